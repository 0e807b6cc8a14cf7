"""The state of the protocol at the start of a run."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import nan
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ddsim.engine.fragments import fragment_sizes, layers_of
from ddsim.engine.reduction import release_shares
from ddsim.methods.local import protocol as k
from ddsim.scenario.fields import Flag, Number, Range, count
from ddsim.scenario.paths import Slot
from ddsim.scenario.training import Training
from ddsim.world.corruptions import corrupting
from ddsim.world.instants import ticks

if TYPE_CHECKING:
    from ddsim.engine.run import Run
    from ddsim.methods.local.protocol import State
    from ddsim.scenario.fields import Kind
    from ddsim.world.ring import Ring

MARGIN = 8192  # what a buffer holds beyond the most that one instant can bring
NOTED_AT_ONCE = 20_000
TALLIED = 1 << 14
DRAWN_AT_ONCE = 4096
TURNS = 1024  # periods that a policy may have set for slots that somebody may ask for
MOST_AT_FIRST = 4096  # rows of slots, which a run may need more of


class Settings(NamedTuple):
    """What the protocol is set to, where methods differ.

    `steered` says that a policy decides about bits, H, tau and K while it runs. In `lockstep` all
    wait for all, or, where `others_go_on`, for those that have hardware; one that `leaves` comes
    back with H steps of its own. `by_layer` the layers of a fragment leave, and are needed, one by
    one within a step; at a `barrier` all hand in at once.
    `mixing` is what a learner keeps of its own fragment when an update arrives.
    """

    quorum: int
    overlap: int
    inner_steps: int
    fragments: int
    grace: float
    at_tau: bool
    step_on: bool
    steered: bool
    lockstep: bool = False
    barrier: bool = False
    others_go_on: bool = False
    leaves: bool = False
    by_layer: bool = False
    mixing: float = 0.0


_AS_SAID = {"overlap": "overlap_steps", "inner_steps": "inner_steps"} | {
    name: name for name in ("grace", "mixing")
}
"""Settings that may be what fields of a scenario's `training` may be."""


@dataclass(frozen=True)
class _Only(Number):
    """One number, and why no other."""

    why: str = ""

    @property
    def allowed(self) -> str:
        """The number and why."""
        return f"{self.range.least:.0f}, {self.why}"


def _only(number: int, why: str) -> Number:
    return _Only(Range(number, number), whole=True, why=why)


def allowed(run: Run, *, barrier: bool, own_fragments: bool) -> dict[str, Kind]:
    """Return what each setting may be in a run, as a scenario's own may.

    P may be another than the scenario's with `own_fragments`, unless a tape is kept, by which a
    model in the scenario's fragments is trained; at a `barrier` those are handed in as one.
    """
    kinds = {name: Slot("", Training, field).kind for name, field in _AS_SAID.items()}
    said = {name: kind for name, kind in kinds.items() if kind is not None}
    said["quorum"] = count(1, len(run.paces))
    said["fragments"] = count(1, run.scenario.model.layers)
    if run.tape is not None and barrier:
        said["fragments"] = _only(1, "as a trained model is handed in at a barrier")
    elif run.tape is not None or not own_fragments:
        said["fragments"] = _only(run.scenario.training.fragments, "as training.fragments says")
    return {name: said.get(name, Flag()) for name in Settings._fields}


def begin(run: Run, settings: Settings, ring: Ring) -> State:
    """Return the state at time 0: all fragments received, every learner at its first step.

    `ring` is the exchange among all units.
    """
    count, fragments = len(run.paces), settings.fragments
    rows = min(MOST_AT_FIRST, max(64, 4 * settings.overlap + 2 * settings.inner_steps))
    each = _most_at_once(settings)

    def ints(*shape: int) -> Any:
        return np.zeros(shape, np.int64)

    def reals(*shape: int) -> Any:
        return np.zeros(shape)

    time = ints(k.TIMES)
    time[[k.LINK_ENDS, k.CLOSES, k.SAVE_INTERVAL]] = k.NEVER
    time[k.LATENCY] = ring.latency
    time[k.LEAST_WAIT] = min(k.NEVER, run.recorder.least_wait)
    time[[k.LAST_OUT, k.ROUND_ENDS, k.SLOW_UNTIL]] = -k.NEVER
    real = reals(k.REALS)
    if ring.slow_start is not None:
        time[k.ROUND_TRIP] = ring.slow_start.round_trip
        real[k.FIRST_WINDOW] = ring.slow_start.first
    real[[k.QUORUM_TIME, k.SYNC_TIME, k.MEASURED]] = nan
    real[k.GAMMA] = settings.grace
    real[k.MIXING] = settings.mixing
    real[k.SHARE] = ring.bits(1.0)
    real[k.PARAMETERS] = run.scenario.model.parameters / fragments
    real[[k.TOKEN_GOAL, k.COUNTED_GOAL, k.WORTH]] = run.goal
    number = ints(k.NUMBERS)
    number[k.QUORUM] = settings.quorum
    number[k.TAU] = settings.overlap
    number[k.PERIOD] = settings.inner_steps
    number[k.FRAGMENTS] = fragments
    number[k.AT_TAU] = settings.at_tau
    number[k.STEP_ON] = settings.step_on
    number[k.CROSSES] = ring.crosses
    number[k.POLICY] = settings.steered
    number[k.LOCKSTEP] = settings.lockstep
    number[k.BARRIER] = settings.barrier
    number[k.OTHERS_GO_ON] = settings.others_go_on
    number[k.LEAVES] = settings.leaves
    number[k.BY_LAYER] = settings.by_layer
    number[k.TAPED] = run.tape is not None
    for column, parameter in k.TIME_SAYS.items():
        time[column] = ticks(attrgetter(parameter)(run.scenario))
    for array, said in ((real, k.REAL_SAYS), (number, k.NUMBER_SAYS)):
        for column, parameter in said.items():
            array[column] = attrgetter(parameter)(run.scenario)
    number[[k.STANDING, k.TURNS]] = 1
    number[[k.LIVE, k.AWAKE]] = count
    number[k.PAUSE_AT] = k.NEVER
    number[k.NOTES] = run.recorder.keep
    learner = ints(count, k.LEARNER_COLUMNS)
    learner[:, k.ENDS] = k.NEVER
    learner[:, k.NOMINAL] = [each.nominal for each in run.paces]
    learner[:, [k.RUNS, k.IS_LIVE, k.HEARD, k.WAKES, k.HARDWARE]] = 1
    learner[:, k.UNEVEN] = [not pace.even for pace in run.paces]
    learner[:, k.DRAWN] = -DRAWN_AT_ONCE
    pace = reals(count, k.PACE_COLUMNS)
    pace[:, [k.RATE, k.SPEED, k.SHORTEST]] = 1.0
    for host, (members, shortest) in enumerate(run.cluster.hosts):
        learner[members, k.HOST], learner[members, k.SHARED_BY] = host, len(members)
        pace[members, k.SHORTEST] = shortest
    pace[:, k.AVERAGE] = nan
    turns = ints(TURNS if settings.steered else 1, 3)
    turns[0, k.INNER] = settings.inner_steps
    presence = ints(2, 6)
    presence[:, k.P_GONE] = k.NEVER
    share_from, shares = _shares(run, settings)
    layers = len(shares) if settings.lockstep else 0
    most = _most_layers(settings, share_from)
    own = count if settings.others_go_on else 1
    notes = rows * each + min(NOTED_AT_ONCE, _slots(run)) if run.recorder.keep else 0
    told = run.tape is not None or bool(corrupting(run.scenario, screened=False))
    taped = 2 * MARGIN + count * (2 * rows + 4) if told else 64 * count
    even = all(each.even for each in run.paces)
    state = k.State(
        time=time,
        real=real,
        number=number,
        learner=learner,
        pace=pace,
        spent=ints(count, 4),
        received=ints(count, fragments),
        tokens=reals(count, fragments),
        settled=ints(count, fragments),
        settled_tokens=reals(count, fragments),
        bases=ints(count, fragments),
        queue=ints(count, rows, 5),
        draws=ints(count, 1 if even else DRAWN_AT_ONCE),
        loads=ints(count, 1 if even else DRAWN_AT_ONCE),
        slot=ints(rows, k.SLOT_COLUMNS),
        sent_bits=reals(rows),
        sent_at=reals(rows),
        answered=ints(rows, count),
        carried=ints(rows, count, each),
        brought=reals(rows, count, each),
        based=ints(rows, count, each),
        turns=turns,
        sizes=np.ones(fragments) if settings.lockstep else np.array(fragment_sizes(run.scenario)),
        share_from=share_from,
        shares=shares,
        course=ints(count, 2 * each + 16, 2),
        course_rate=reals(count, 2 * each + 16),
        releases=ints(rows if layers else 1, own, most if layers else 1),
        heads=ints(each),
        fragment_at=ints(rows, each),
        marks=reals(rows if settings.others_go_on else 1, count, 4),
        marked=ints(rows if settings.others_go_on else 1, count),
        link_from=np.array(ring.rate.times, np.int64),
        link_rate=np.array(ring.rate.values),
        presence=presence,
        merged_in=ints(fragments),
        arrived_at=ints(fragments),
        sent_in=ints(fragments),
        lags=ints(TALLIED),
        steps=ints(TALLIED),
        spill=ints(2 * rows * count * each + MARGIN, 2),
        ages=ints(rows * each + MARGIN),
        tokens_in=reals(rows + MARGIN),
        waits=ints(2 * count + MARGIN, 5),
        sent=ints(2 * most + 4 + MARGIN, 2),
        sent_size=reals(2 * most + 4 + MARGIN),
        tape=ints(taped, 5),
        tape_weights=reals(taped if told else 1, count),
        settings=reals(4),
        notes=ints(notes, 4),
        weights=reals(notes, count),
    )
    first = k.following(state, 0)
    number[[k.NEXT_SLOT, k.SENDS, k.LANDS, k.OLDEST]] = first
    return state


def grown(state: State) -> State:
    """Return the state with twice the room for slots and for answers.

    What is told in between has room for what as many slots more may bring at once.
    """
    rows = len(state.slot)
    old = {slot % rows: slot for slot in range(state.number[k.OLDEST], state.number[k.TOP] + 1)}
    by_row = ["slot", "sent_bits", "sent_at", "answered", "carried", "brought", "based"]
    by_row += ["fragment_at"]
    by_row += [
        name for name in ("releases", "marks", "marked") if len(getattr(state, name)) == rows
    ]
    new = {}
    for name in by_row:
        array = getattr(state, name)
        new[name] = np.zeros((2 * rows, *array.shape[1:]), array.dtype)
        for row, slot in old.items():
            new[name][slot % (2 * rows)] = array[row]
    count, room, columns = state.queue.shape
    new["queue"] = np.zeros((count, 2 * room, columns), np.int64)
    new["queue"][:, :room] = state.queue
    for name in ("course", "course_rate"):
        array = getattr(state, name)
        new[name] = np.zeros((count, 2 * array.shape[1], *array.shape[2:]), array.dtype)
        new[name][:, : array.shape[1]] = array
    each = state.carried.shape[2]
    more = {"ages": rows * each, "tokens_in": rows, "spill": 2 * rows * count * each}
    if state.number[k.NOTES]:
        more |= dict.fromkeys(("notes", "weights"), rows * each)
    if len(state.tape_weights) == len(state.tape):
        more |= dict.fromkeys(("tape", "tape_weights"), 2 * rows * count)
    for name, places in more.items():
        array = getattr(state, name)
        new[name] = np.zeros((len(array) + places, *array.shape[1:]), array.dtype)
        new[name][: len(array)] = array
    return state._replace(**new)


def _shares(run: Run, settings: Settings) -> tuple[Any, Any]:
    """Return at which shares of a step each fragment's layers leave, and where those begin."""
    fragments, layers = settings.fragments, run.scenario.model.layers
    shares: list[list[float]] = [[1.0]] * fragments
    if settings.by_layer:
        at = release_shares(layers)
        members = layers_of(fragments, layers)
        shares = [[at[layers - layer] for layer in reversed(own)] for own in members]
    begins = np.cumsum([0, *map(len, shares)])
    return begins.astype(np.int64), np.array([share for own in shares for share in own])


def _most_layers(settings: Settings, share_from: Any) -> int:
    """Return how many layers a slot sends at most."""
    H, P = settings.inner_steps, settings.fragments
    begins = [-(-residue * P // H) for residue in range(H + 1)]
    return max(int(share_from[b] - share_from[a]) for a, b in pairwise(begins))


def _most_at_once(settings: Settings) -> int:
    """Return how many fragments a slot has at most."""
    H, P = settings.inner_steps, settings.fragments
    return P if settings.steered else -(-P // H)


def _slots(run: Run) -> int:
    """Return how many slots a run has, at most."""
    fastest = min(each.nominal for each in run.paces)
    return 10 * run.horizon // fastest
