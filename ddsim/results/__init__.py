"""What a run says: one `MethodResult` a method, and `Results` that holds them side by side."""

from ddsim.results.average import mean_of
from ddsim.results.comparison import Results
from ddsim.results.record import Learning, Merge, MethodResult, Recording, Span, Wan

__all__ = ["Learning", "Merge", "MethodResult", "Recording", "Results", "Span", "Wan", "mean_of"]
