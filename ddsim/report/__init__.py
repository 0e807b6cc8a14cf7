"""Reports: one self-contained HTML file of a run or a study."""

from ddsim.report.page import run_report
from ddsim.report.study import study_report

__all__ = ["run_report", "study_report"]
