"""The arrays of the protocol with nothing in them, for rules that are called one by one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ddsim.methods.local import protocol as k

ROWS, ROOM = 8, 16
REALS = {
    *("real", "pace", "tokens", "settled_tokens", "sent_bits", "sent_at", "brought", "sizes"),
    *("shares", "course_rate", "marks", "link_rate", "tokens_in", "sent_size", "tape_weights"),
    *("settings", "weights"),
}


def bare(learners: int = 2, fragments: int = 1) -> Any:
    """Return the state of learners that have done nothing; all fragments are due at every slot.

    There are ROWS rows of slots, none of them reached, and buffers hold ROOM of what is told.
    """
    m, p, c = learners, fragments, ROWS
    shapes: dict[str, tuple[int, ...]] = {
        "time": (k.TIMES,),
        "real": (k.REALS,),
        "number": (k.NUMBERS,),
        "learner": (m, k.LEARNER_COLUMNS),
        "pace": (m, k.PACE_COLUMNS),
        "spent": (m, 4),
        **dict.fromkeys(("received", "tokens", "settled", "settled_tokens", "bases"), (m, p)),
        "queue": (m, ROOM, 5),
        **dict.fromkeys(("draws", "loads"), (m, ROOM)),
        "slot": (c, k.SLOT_COLUMNS),
        **dict.fromkeys(("sent_bits", "sent_at"), (c,)),
        **dict.fromkeys(("answered", "marked"), (c, m)),
        **dict.fromkeys(("carried", "brought", "based"), (c, m, p)),
        "turns": (4, 3),
        **dict.fromkeys(("sizes", "heads", "merged_in", "arrived_at", "sent_in"), (p,)),
        "share_from": (p + 1,),
        "shares": (p,),
        "course": (m, ROOM, 2),
        "course_rate": (m, ROOM),
        "releases": (c, m, p),
        "fragment_at": (c, p),
        "marks": (c, m, 4),
        **dict.fromkeys(("link_from", "link_rate"), (1,)),
        "presence": (2, 6),
        **dict.fromkeys(("lags", "steps", "ages", "tokens_in", "sent_size"), (ROOM,)),
        **dict.fromkeys(("spill", "sent"), (ROOM, 2)),
        **dict.fromkeys(("waits", "tape"), (ROOM, 5)),
        **dict.fromkeys(("tape_weights", "weights"), (ROOM, m)),
        "settings": (4,),
        "notes": (ROOM, 4),
    }
    made = {
        name: np.zeros(shape, float if name in REALS else np.int64)
        for name, shape in shapes.items()
    }
    state: Any = k.State(**made)
    state.number[[k.FRAGMENTS, k.PERIOD, k.TURNS]] = fragments, 1, 1
    state.number[[k.NEXT_SLOT, k.SENDS, k.OLDEST, k.LANDS, k.STANDING]] = 1
    state.turns[0, k.INNER] = 1
    state.slot[:, k.INDEX] = -1
    state.learner[:, [k.RUNS, k.IS_LIVE, k.HEARD, k.HARDWARE]] = 1
    state.learner[:, k.ENDS] = k.NEVER
    state.pace[:, [k.RATE, k.SPEED, k.SHORTEST]] = 1.0
    state.sizes[:] = 1.0
    state.share_from[:] = range(p + 1)
    state.shares[:] = 1.0
    state.presence[:, k.P_GONE] = k.NEVER
    return state
