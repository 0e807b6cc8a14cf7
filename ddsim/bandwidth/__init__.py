"""Utilization of training over thin links without failures, and the bandwidth that it needs.

`utilization` and `required` answer for one method and one `StepModel`; `bandwidth_study` for
several; `required_bandwidth` for a scenario. `tables` and `page` read published figures the way
they were made.
"""

from ddsim.bandwidth.model import METHODS, Reading, StepModel, pure_compute, table_reading
from ddsim.bandwidth.scenario import reading_of, required_bandwidth, step_model
from ddsim.bandwidth.solve import required, utilization
from ddsim.bandwidth.study import BandwidthStudy, MethodBandwidth, bandwidth_study, every_method
from ddsim.bandwidth.tables import TARGETS

__all__ = [
    "METHODS",
    "TARGETS",
    "BandwidthStudy",
    "MethodBandwidth",
    "Reading",
    "StepModel",
    "bandwidth_study",
    "every_method",
    "pure_compute",
    "reading_of",
    "required",
    "required_bandwidth",
    "step_model",
    "table_reading",
    "utilization",
]
