"""What has to hold in a scenario's ``learning`` section."""

from __future__ import annotations

from ddsim.scenario.known import Widths
from ddsim.scenario.layout import number_bits
from ddsim.scenario.learning import Learning
from ddsim.scenario.report import Report
from ddsim.scenario.training import Training

UNCHANGED = 32
"""Bits from which on a number is sent as it is, whatever the quantizer."""


def check_learning(
    learning: Learning, training: Training, report: Report, widths: Widths | None
) -> None:
    """Report what does not hold between the fields; `widths` are the quantizers' bits."""
    where = ("learning", "problem")
    if learning.problem is None:
        if learning != Learning() and report.sound(("learning",)):
            report.add(where, "not given", "needed in a learning section: `ddsim list problems`")
        return
    bits = ("learning", "quantization", "bits")
    sent = number_bits(training)
    settled = learning.quantization.bits is not None or sent == int(sent)
    if not report.usable(bits, ("training", "payload_bits")):
        return
    if not settled:
        report.add(bits, "not given", f"needed, as payload_bits is {sent:g}, no whole number")
        return
    quantization = learning.quantization
    width = int(sent) if quantization.bits is None else quantization.bits
    name = quantization.quantizer
    known = widths().get(name) if widths is not None else None
    if known is not None and width < UNCHANGED and not known[0] <= width <= known[1]:
        allowed = f"{known[0]} to {known[1]} for {name}, or {UNCHANGED} and more"
        given = report.given(*bits)
        report.add(bits if given else ("training", "payload_bits"), f"{width} bits", allowed)
