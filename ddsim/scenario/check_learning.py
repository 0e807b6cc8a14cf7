"""What has to hold in a scenario's ``learning`` section."""

from __future__ import annotations

from ddsim.scenario.learning import Learning
from ddsim.scenario.report import Report


def check_learning(learning: Learning, payload_bits: float, report: Report) -> None:
    """Report what does not hold between the fields."""
    where = ("learning", "problem")
    if learning.problem is None:
        if learning != Learning() and report.sound(("learning",)):
            report.add(where, "not given", "needed in a learning section: `ddsim list problems`")
        return
    bits = ("learning", "quantization", "bits")
    settled = learning.quantization.bits is not None or payload_bits == int(payload_bits)
    if not settled and report.usable(bits, ("training", "payload_bits")):
        found = "not given"
        report.add(bits, found, f"needed, as payload_bits is {payload_bits:g}, no whole number")
