"""Arithmetic on measured runs: no simulation, only what published times and links imply.

INTELLECT-1: arXiv 2412.01152. Covenant-72B: arXiv 2603.08163. Their figures are in the reference
data `measured_runs`.
"""

from dataclasses import dataclass

from ddsim.theory._checks import not_negative, positive
from ddsim.theory.stepping import ring_factor


def blocking_utilization(compute: float, communication: float) -> float:
    """Compute utilization when communication follows compute: c / (c + m), times in seconds."""
    positive(compute=compute)
    not_negative(communication=communication)
    return compute / (compute + communication)


def compressed_bits(parameters: float, base_bits: float, ratio: float = 1.0) -> float:
    """Bits of a payload of `base_bits` per parameter compressed `ratio` times."""
    positive(parameters=parameters, base_bits=base_bits, ratio=ratio)
    return parameters * base_bits / ratio


def ring_rate(payload_bits: float, members: int, seconds: float) -> float:
    """Bits per second through each member that a ring all-reduce of that length implies.

    The wire carries ring_factor(members) x payload in and as much out of each member; whatever
    the run spent on latency, stragglers and arithmetic lowers this rate.
    """
    positive(payload_bits=payload_bits, seconds=seconds)
    return payload_bits * ring_factor(members) / seconds


@dataclass(frozen=True, slots=True)
class PayloadReading:
    """One way to count the bits of an exchange and the link that they cross."""

    base_bits: float
    exchange: str
    seconds: float


def peer_exchange_readings(
    parameters: float,
    ratio: float,
    peers: int,
    upload: float,
    download: float,
    bases: tuple[float, ...] = (16.0, 32.0),
) -> list[PayloadReading]:
    """Communication time of an exchange among peers on asymmetric links, read in several ways.

    parameters, ratio: size of the model and compression of each peer's payload.
    upload, download: bits per second of each peer; they run at once, so the longer one counts.
    bases: bits per parameter before compression.

    For Covenant-72B (72.7e9 parameters, 146x, 20 peers, 110 Mbit/s up, 500 Mbit/s down) the
    published 70 s is the 16-bit base with the upload alone: 72.4 s. The other readings miss by a
    factor of 2 and more.
    """
    readings = []
    for base in bases:
        bits = compressed_bits(parameters, base, ratio)
        up = bits / upload
        readings += [
            PayloadReading(base, "upload only", up),
            PayloadReading(base, "download of one payload only", bits / download),
            PayloadReading(
                base,
                "upload, and download of every other peer's payload",
                max(up, (peers - 1) * bits / download),
            ),
            PayloadReading(
                base,
                "ring all-reduce at the slower direction",
                ring_factor(peers) * bits / min(upload, download),
            ),
        ]
    return readings
