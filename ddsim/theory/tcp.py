"""What TCP makes of a path: the rate of a stream, of several together, and how they get going.

Sizes are bits, times seconds, rates bit/s, `loss` the share of segments that the path drops, each
on its own. A window is what one stream has in flight. The formulas are those of a single bottleneck
that nobody else uses:

- window: a receiver that takes `window` lets one window through a round trip;
- reno: M. Mathis, J. Semke, J. Mahdavi, T. Ott, The macroscopic behavior of the TCP congestion
  avoidance algorithm, 1997, with 1.22, its constant of periodic losses and undelayed answers;
- cubic: RFC 9438, section 5, with C = 0.4 and beta = 0.7, and reno where that is faster (the
  Reno-friendly region, section 4.3);
- bbr: no loss slows it until what it probes with no longer covers the losses (N. Cardwell and
  others, BBR: congestion-based congestion control, 2016), a gain of 5/4 and so a share of 1/5;
  beyond that it is taken to keep its least window of four segments.

What is dropped is sent again, so that of a link at most 1 - loss carries anything new.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

from ddsim.theory._checks import not_negative, positive

Congestion = Literal["reno", "cubic", "bbr"]
CONGESTIONS: tuple[Congestion, ...] = get_args(Congestion)

BYTE = 8.0
MTU = 1500 * BYTE
HEADERS = 40 * BYTE
"""Of IPv4 and TCP, without options."""
DEFAULT_WINDOW = 6e6 * BYTE
"""What Linux lets one stream have in flight unless told otherwise: 6 MB (net.ipv4.tcp_rmem)."""
INITIAL_SEGMENTS = 10
"""Of a stream's first window (RFC 6928)."""

RENO = 1.22
CUBIC_C = 0.4
CUBIC_BETA = 0.7
BBR_CEILING = 1.0 - 1.0 / 1.25
BBR_LEAST_SEGMENTS = 4


def segment_size(mtu: float = MTU) -> float:
    """Bits that one segment carries: the path's largest packet without its headers."""
    if not mtu > HEADERS:
        raise ValueError(f"mtu is {mtu!r}; it has to be above the {HEADERS:g} bits of its headers")
    return mtu - HEADERS


def reno_window(loss: float) -> float:
    """Mean window of reno in segments: 1.22 / sqrt(p); infinite without loss."""
    _share(loss)
    return RENO / math.sqrt(loss) if loss else math.inf


def cubic_window(loss: float, round_trip: float) -> float:
    """Mean window of cubic in segments, never below reno's.

    (C (3 + beta) / (4 (1 - beta)))^(1/4) (RTT / p)^(3/4).
    """
    not_negative(round_trip=round_trip)
    friendly = reno_window(loss)
    if not loss:
        return friendly
    scale = CUBIC_C * (3.0 + CUBIC_BETA) / (4.0 * (1.0 - CUBIC_BETA))
    return max(math.sqrt(math.sqrt(scale)) * math.pow(round_trip / loss, 0.75), friendly)


def bbr_window(loss: float) -> float:
    """Window of bbr in segments: what the path asks for up to its ceiling, then its least."""
    _share(loss)
    return math.inf if loss <= BBR_CEILING else float(BBR_LEAST_SEGMENTS)


def loss_window(congestion: Congestion, loss: float, round_trip: float) -> float:
    """Mean window in segments that a kind of congestion control keeps at a loss."""
    if congestion == "reno":
        return reno_window(loss)
    if congestion == "cubic":
        return cubic_window(loss, round_trip)
    if congestion == "bbr":
        return bbr_window(loss)
    raise ValueError(f"congestion is {congestion!r}; it is one of {', '.join(CONGESTIONS)}")


def stream_window(
    round_trip: float,
    congestion: Congestion = "cubic",
    window: float = DEFAULT_WINDOW,
    loss: float = 0.0,
    mtu: float = MTU,
) -> float:
    """Bits that one stream has in flight: the kernel's window, or less where loss keeps it down."""
    if not window > 0.0:
        raise ValueError(f"window is {window!r}; it has to be above 0")
    return min(window, loss_window(congestion, loss, round_trip) * segment_size(mtu))


def stream_rate(
    round_trip: float,
    congestion: Congestion = "cubic",
    window: float = DEFAULT_WINDOW,
    loss: float = 0.0,
    mtu: float = MTU,
) -> float:
    """What one stream gets of a path that is wide enough: its window a round trip.

    Infinite where nothing but the link is a limit, as without any round trip.
    """
    flight = stream_window(round_trip, congestion, window, loss, mtu)
    return flight / round_trip if round_trip else math.inf


def streams_rate(streams: float, rate: float, link: float, loss: float = 0.0) -> float:
    """What so many streams get together: so many times one's rate, and never above the link."""
    positive(streams=streams)
    _share(loss)
    return min(streams * rate, link * (1.0 - loss))


def streams_for(rate: float, each: float) -> float:
    """How many streams of a rate it takes for another; infinite where each gets nothing."""
    not_negative(rate=rate)
    if each == math.inf or rate == 0.0:
        return 1
    return max(1, math.ceil(rate / each * (1.0 - 1e-12))) if each > 0.0 else math.inf


def first_window(streams: float = 1, mtu: float = MTU) -> float:
    """Bits that so many streams send in their first round trip: ten segments each."""
    return streams * INITIAL_SEGMENTS * segment_size(mtu)


def slow_start_time(bits: float, rate: float, round_trip: float, first: float) -> float:
    """Time until the last bit is out of a transfer that finds its connection idle.

    Each round trip sends a window, the first `first` bits and each twice the one before, until a
    window lasts for a round trip at `rate` or carries all that is left. The rest goes at `rate`.
    """
    positive(rate=rate, first=first)
    not_negative(bits=bits, round_trip=round_trip)
    time, left, window = 0.0, bits, first
    while window < rate * round_trip and left > window:
        left -= window
        time += round_trip
        window *= 2.0
    return time + left / rate


def _share(loss: float) -> None:
    if not 0.0 <= loss < 1.0:
        raise ValueError(f"loss is {loss!r}; it is a share, from 0 to below 1")
