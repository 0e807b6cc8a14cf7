"""A learner's books by hand: its steps, its waits, its saves, and what it has to take back.

The unit has two slices of four chips, a step computes for 10 s, and a chip stands for two
tokens of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

import numpy as np
import pytest

from ddsim.engine.body import ElasticBody
from ddsim.engine.clock import Clock, Rank
from ddsim.engine.hardware import Hardware
from ddsim.engine.kept import Unsaved
from ddsim.engine.learner import Learner
from ddsim.engine.ledger import Account, Ledger
from ddsim.engine.recorder import Presence, Recorder
from ddsim.engine.saves import Saves
from ddsim.world.cluster import UnitPlan
from ddsim.world.distributions import from_spec
from ddsim.world.instants import SECOND
from ddsim.world.pace import Pace
from ddsim.world.strike import Strike

PEERS, EXPOSED = Account.WAITING_ON_PEERS, Account.EXPOSED_COMMUNICATION
STALLS = ("elastic_downscale", "failed_hardware", "restart", "checkpoint_save")
EVERY_15 = Saves(interval=15 * SECOND, length=3 * SECOND)
BLAME = ("fault", "slice")


def strike(at: float, *slices: int, slow_to: float = 1.0, back: float = 1e6) -> Strike:
    """A failure of slices that is noticed at once, and is over at an instant."""
    repair = round((back - at) * SECOND)
    return Strike(round(at * SECOND), 0, slices, 0, repair, "fault", slow_to=slow_to)


def shrinks(at: float) -> Strike:
    """A slice goes for good, and the unit reconfigures for 2 s."""
    return strike(at, 1)


def lost(at: float, back: float = 1e6) -> Strike:
    """The whole unit goes, and restarts for 5 s once it is back."""
    return strike(at, 0, 1, back=back)


def slowed(at: float, back: float) -> Strike:
    """The unit runs at half its speed for a while."""
    return strike(at, 0, 1, slow_to=0.5, back=back)


class Bench:
    """A learner that takes a leg of so many steps after the other, from 0 s on."""

    def __init__(
        self,
        *strikes: Strike,
        leg: int = 100,
        saves: Saves | None = None,
        data: Sequence[float] = (),
        alone: bool = True,
        extend: bool = True,
        age_stops: bool = False,
        then: Callable[[Learner], None] | None = None,
    ) -> None:
        self.leg, self.data = leg, [round(wait * SECOND) for wait in data]
        self.clock, self.ledger = Clock(), Ledger(1)
        self.running, self.computing = Presence(), Presence()
        self.recorder = Recorder(["unit"], least_wait=1)
        plan = UnitPlan(0, "unit", "east", "chip", chips=8, slice_size=4, step_time=10.0)
        self.hardware = Hardware(self.clock, [plan], strikes, age_stops=age_stops)
        self.body = ElasticBody(
            self.clock,
            self.hardware.units,
            self.ledger,
            self.recorder,
            downscale=2 * SECOND,
            upscale=SECOND,
            restart=lambda: 5 * SECOND,
            extend=extend,
            alone=lambda: alone,
        )
        self.saved: list[float] = []
        self.lived: list[tuple[float, bool]] = []
        self.ready: list[float] = []
        self.learner = Learner(
            self.body,
            Pace(10 * SECOND, 0.0, np.random.default_rng(0)),
            2.0,
            (self.running, self.computing),
            then or self.begin,
            self._ready,
            self._live_changed,
        )
        if saves is not None:
            self.learner.save_by(saves)
            self.learner.on_saved = lambda learner: self.saved.append(self.clock.now / SECOND)
        self.hardware.start([self.body])
        self.begin(self.learner)

    def begin(self, learner: Learner) -> None:
        """Begin a leg."""
        done = learner.steps + learner.discarded
        data = self.data[done : done + self.leg]
        learner.start(list(accumulate(learner.computes(len(data) or self.leg))), data)

    def _ready(self, learner: Learner) -> None:
        self.ready.append(self.clock.now / SECOND)
        self.begin(learner)

    def _live_changed(self, learner: Learner) -> None:
        self.lived.append((self.clock.now / SECOND, self.body.live))

    def at(self, instant: float, what: Callable[[], object]) -> None:
        """Have something happen that the hardware has no part in."""
        self.clock.after(round(instant * SECOND), Rank.ARRIVAL, lambda wake: what())

    def run(self, until: float) -> Bench:
        """Run to a horizon and close the books there."""
        horizon = round(until * SECOND)
        self.clock.run(horizon)
        self.body.close(horizon)
        self.learner.close(horizon)
        self.running.close(horizon)
        self.computing.close(horizon)
        return self

    @property
    def books(self) -> dict[str, float]:
        """Chip-seconds by account, where there are any."""
        return {name: spent for name, spent in self.ledger.totals().items() if spent}

    @property
    def waits(self) -> list[tuple[float, float, str]]:
        """The waits that were noted, in seconds."""
        return [
            (span.start, span.end, span.state)
            for span in self.recorder.whole()
            if span.state not in ("running", *STALLS)
        ]

    @property
    def kept(self) -> Unsaved:
        """What the learner says that it has done and kept, its compute in seconds."""
        done = self.learner.progress
        return Unsaved(done.work, done.steps, done.tokens, done.compute // SECOND)


def kept(work: float, steps: int, tokens: float, compute: int) -> Unsaved:
    """So many chip-seconds of work, steps, tokens, and seconds of compute."""
    return Unsaved([work], steps, tokens, compute)


def test_all_that_was_computed_is_kept_where_nothing_happens() -> None:
    """2.5 steps of 8 chips: the tokens are those of the steps that ended."""
    bench = Bench().run(25.0)
    assert bench.books == {"productive": 200.0}
    assert bench.kept == kept(200.0, 2, 32.0, 25)


@pytest.mark.parametrize("leg", [1, 2, 100])
def test_a_step_that_ends_with_the_run_does_not_count(leg: int) -> None:
    """Its compute does, however long legs are."""
    bench = Bench(leg=leg).run(20.0)
    assert bench.kept == kept(160.0, 1, 16.0, 20)


def test_a_step_that_ends_just_before_the_run_counts() -> None:
    """A nanosecond is enough."""
    assert Bench().run(20.0 + 1e-9).kept.steps == 2


def test_a_slow_step_that_ends_with_the_run_does_not_count_either() -> None:
    """At half the speed a step takes 20 s."""
    assert Bench(slowed(0.0, back=1e6)).run(40.0).kept == kept(160.0, 1, 16.0, 20)


def test_tokens_are_of_the_chips_that_are_up_when_a_step_ends() -> None:
    """A slice goes at 15 s, for which the unit stalls for 2 s: the second step ends with four."""
    bench = Bench(shrinks(15.0)).run(23.0)
    assert bench.books["productive"] == 8 * 15 + 4 * 6
    assert bench.books["elastic_downscale"] == 4 * 2
    assert bench.kept == kept(144.0, 2, 16.0 + 8.0, 21)


def test_a_slow_unit_loses_the_rest_of_its_time() -> None:
    """From 5 s to 15 s at half the speed: 5 s of compute, so that the first step ends at 15 s."""
    bench = Bench(slowed(5.0, back=15.0)).run(26.0)
    assert bench.books == {"productive": 8 * 21.0, "degraded": 8 * 5.0}
    assert bench.kept == kept(168.0, 2, 32.0, 21)
    assert bench.ledger.losses.chip_seconds == {BLAME: 40.0}


def test_a_loss_takes_the_step_in_progress_and_no_other() -> None:
    """At 25 s, back for a restart at 30 s: two steps stay, and the next begins at 35 s."""
    bench = Bench(lost(25.0, back=30.0)).run(46.0)
    assert bench.books == {
        "productive": 8 * (20.0 + 11.0),
        "wasted_progress": 8 * 5.0,
        "failed_hardware": 8 * 5.0,
        "restart": 8 * 5.0,
    }
    assert bench.kept == kept(248.0, 3, 48.0, 31)
    assert (bench.learner.undone, bench.learner.discarded) == (0, 1)
    losses = bench.ledger.losses
    assert (losses.catching_up, losses.chip_seconds[BLAME]) == (5 * SECOND, 8 * 15.0)


def test_of_a_step_that_was_cut_into_pieces_a_loss_takes_all() -> None:
    """Begun at 10 s, by a slice fewer from 17 s on, slower from 20 s on, lost at 22 s."""
    bench = Bench(shrinks(15.0), slowed(20.0, back=22.0), strike(22.0, 0)).run(22.5)
    assert bench.books["wasted_progress"] == 8 * 5 + 4 * 3 + 4 * 1
    assert bench.books["degraded"] == 4 * 1
    assert bench.kept == kept(80.0, 1, 16.0, 10)
    assert bench.ledger.losses.catching_up == 9 * SECOND


def test_a_slow_unit_loses_of_its_step_what_it_had_computed() -> None:
    """At half the speed from the start, lost at 25 s: 2.5 s into the second step's compute."""
    bench = Bench(slowed(0.0, back=1e6), lost(25.0)).run(26.0)
    assert bench.books["wasted_progress"] == 8 * 2.5
    assert bench.kept == kept(80.0, 1, 16.0, 10)
    assert bench.ledger.losses.catching_up == 2.5 * SECOND


def test_what_is_lost_twice_of_one_step_is_what_was_computed_each_time() -> None:
    """5 s of the first step, and 3 s of it after a restart: nothing else, saved or not."""
    bench = Bench(lost(5.0, back=10.0), lost(18.0, back=20.0), saves=EVERY_15).run(26.0)
    assert bench.books["wasted_progress"] == 8 * (5.0 + 3.0)
    assert bench.ledger.losses.catching_up == 8 * SECOND
    assert bench.kept == kept(8.0, 0, 0.0, 1)
    assert bench.learner.discarded == 2


def test_a_loss_between_legs_takes_nothing() -> None:
    """What waits has no step in progress."""
    bench = Bench(lost(15.0), leg=1, then=lambda learner: learner.wait(EXPOSED)).run(16.0)
    assert bench.kept == kept(80.0, 1, 16.0, 10)
    assert bench.learner.discarded == 0
    assert "wasted_progress" not in bench.books


def test_a_leg_that_was_lost_is_asked_for_anew() -> None:
    """Once, as soon as the restart is over, and the unit is told to live at that instant."""
    bench = Bench(lost(25.0, back=30.0)).run(46.0)
    assert bench.ready == [35.0]
    assert bench.lived == [(25.0, False), (35.0, True)]
    assert bench.learner.lost_hardware


def test_who_is_in_another_stall_by_then_is_not_asked() -> None:
    """The other slice is back as the restart of the first is over: for a stall of 1 s."""
    first, second = strike(25.0, 0, back=30.0), strike(25.0, 1, back=35.0)
    assert Bench(first, second).run(46.0).ready == [36.0]


def test_who_has_a_leg_by_then_is_not_asked() -> None:
    """What it waited for is there at the end of its stall."""
    bench = Bench(shrinks(12.0), leg=1, then=lambda learner: learner.wait(EXPOSED))
    bench.at(14.0, lambda: bench.begin(bench.learner))
    bench.run(20.0)
    assert bench.ready == []
    assert bench.books["productive"] == 8 * 10 + 4 * 6


def test_each_step_that_is_begun_has_compute_and_data_of_its_own() -> None:
    """Also one that was lost: nothing that was drawn is used twice, nor left out."""
    bench = Bench(lost(2.0, back=3.0)).run(9.0)
    learner = bench.learner
    delay = from_spec("exponential", {"mean": 2.0}), np.random.default_rng(1)
    learner.pace = Pace(10 * SECOND, 0.1, np.random.default_rng(0), delay=delay)
    assert (learner.steps, learner.discarded) == (0, 1)
    ahead = range(3)
    computes = [learner.pace.of(begun) for begun in (1, 2, 3)]
    assert [learner.compute(step) for step in ahead] == computes == learner.computes(3)
    assert [learner.data(step) for step in ahead] == [learner.pace.data(n) for n in (1, 2, 3)]
    assert len(set(computes)) == 3


def test_a_learner_is_idle_without_a_leg_and_steps_where_that_computes() -> None:
    """Not while it waits, for its step's data or for anything else."""
    bench = Bench(leg=1, data=[2.0], then=lambda learner: learner.wait(EXPOSED))
    seen = [(bench.learner.idle, bench.learner.stepping)]
    for instant in (5.0, 15.0):
        bench.at(instant, lambda: seen.append((bench.learner.idle, bench.learner.stepping)))
    bench.run(16.0)
    assert seen == [(False, False), (False, True), (True, False)]


def test_without_saves_a_lone_learner_that_returns_keeps_its_steps() -> None:
    """The copies at peers are of the last step."""
    bench = Bench(lost(25.0, back=30.0), alone=True).run(36.0)
    assert bench.kept == kept(168.0, 2, 32.0, 21)
    assert bench.learner.undone == 0


@pytest.mark.parametrize("leg", [1, 2, 100])
def test_a_save_comes_at_the_first_boundary_at_which_it_is_due(leg: int) -> None:
    """After 15 s of running: at 20 s and at 43 s, for 3 s, whatever the legs."""
    bench = Bench(saves=EVERY_15, leg=leg).run(60.0)
    assert bench.saved == [23.0, 46.0]
    assert bench.books == {"productive": 8 * 54.0, "checkpoint_save": 8 * 6.0}
    assert bench.kept == kept(432.0, 5, 80.0, 54)


@pytest.mark.parametrize("leg", [1, 2, 3, 100])
@pytest.mark.parametrize(("steps", "ends"), [(1, [13.0, 26.0, 39.0]), (3, [33.0])])
def test_a_save_comes_after_so_many_steps(leg: int, steps: int, ends: list[float]) -> None:
    """After each, or after every third."""
    assert Bench(saves=Saves(steps=steps, length=3 * SECOND), leg=leg).run(40.0).saved == ends


@pytest.mark.parametrize("leg", [1, 100])
def test_steps_before_a_stall_count_towards_the_next_save(leg: int) -> None:
    """A slice goes within the second of three steps, for 2 s."""
    bench = Bench(shrinks(15.0), saves=Saves(steps=3, length=3 * SECOND), leg=leg).run(40.0)
    assert bench.saved == [35.0]


@pytest.mark.parametrize("leg", [1, 100])
def test_a_slow_unit_saves_at_the_end_of_a_slow_step(leg: int) -> None:
    """Its compute counts: 15 s of it are done at 30 s, and the step at 40 s."""
    assert Bench(slowed(0.0, back=1e6), saves=EVERY_15, leg=leg).run(50.0).saved == [43.0]


def test_a_save_is_no_failures_loss() -> None:
    """It is what the job pays for none."""
    assert Bench(saves=EVERY_15).run(60.0).ledger.losses.chip_seconds == {}


def test_a_job_that_does_not_run_cannot_fail() -> None:
    """A failure of the job itself hits nothing where its unit is lost."""
    bench = Bench(lost(5.0), strike(6.0)).run(10.0)
    assert bench.hardware.strikes == 1


@pytest.mark.parametrize("leg", [1, 100])
def test_a_save_that_costs_nothing_holds_nobody_up(leg: int) -> None:
    """It is there at the boundary at once."""
    bench = Bench(saves=Saves(steps=2), leg=leg).run(45.0)
    assert bench.saved == [20.0, 40.0]
    assert bench.books == {"productive": 8 * 45.0}


def test_no_save_begins_before_the_last_one_is_complete() -> None:
    """A copy is on its way for 25 s of running after it began: one is due every third step."""
    saves = Saves(interval=5 * SECOND, length=SECOND, flight=25 * SECOND)
    assert Bench(saves=saves, leg=1).run(65.0).saved == [31.0, 62.0]


@pytest.mark.parametrize("leg", [1, 2, 100])
def test_a_save_that_a_strike_ends_is_tried_again_a_step_later(leg: int) -> None:
    """Begun at 20 s, ended at 21 s by a slice that goes; the unit steps on at 23 s."""
    bench = Bench(shrinks(21.0), saves=EVERY_15, leg=leg).run(37.0)
    assert bench.saved == [36.0]
    assert bench.books["checkpoint_save"] == 8 * 1 + 4 * 3


@pytest.mark.parametrize("leg", [1, 100])
def test_a_learner_that_lost_its_unit_in_a_save_saves_before_it_steps(leg: int) -> None:
    """It had a peer, so that its steps are kept, and are not saved yet."""
    bench = Bench(lost(21.0, back=25.0), saves=EVERY_15, leg=leg, alone=False).run(40.0)
    assert bench.saved == [33.0]
    assert bench.kept == kept(8 * 27.0, 2, 32.0, 27)


def test_a_lone_learner_goes_back_to_its_last_save() -> None:
    """Saved at 23 s with two steps; lost at 40 s, with one more and 7 s of the next."""
    bench = Bench(lost(40.0, back=45.0), saves=EVERY_15).run(61.0)
    assert bench.learner.undone == 1
    assert bench.kept == kept(8 * 31.0, 3, 48.0, 31)
    assert bench.books["wasted_progress"] == 8 * 17.0
    assert bench.ledger.losses.catching_up == 17 * SECOND
    assert bench.learner.steps == 4


def test_a_learner_with_a_peer_loses_no_step_that_is_not_saved() -> None:
    """Only the one in progress; those before it still count towards the next save."""
    bench = Bench(lost(40.0, back=45.0), saves=EVERY_15, alone=False).run(64.0)
    assert bench.learner.undone == 0
    assert bench.books["wasted_progress"] == 8 * 7.0
    assert bench.saved == [23.0, 63.0]


def test_what_a_step_lost_is_not_lost_again_with_what_was_not_saved() -> None:
    """Lost at 15 s, back with a peer, and lost at 40 s without one: all steps, each once."""
    alone = iter([False, True])
    bench = Bench(lost(15.0, back=20.0), lost(40.0, back=45.0), saves=Saves(steps=9))
    bench.body._alone = lambda: next(alone)
    bench.run(51.0)
    assert bench.books["wasted_progress"] == 8 * (5.0 + 15.0 + 10.0)
    assert bench.learner.undone == 2
    assert bench.kept == kept(8.0, 0, 0.0, 1)


def test_tokens_that_are_taken_back_are_those_that_were_counted() -> None:
    """A step of eight chips, one of four; a save after none of them."""
    bench = Bench(shrinks(15.0), strike(30.0, 0, back=40.0), saves=Saves(steps=9)).run(46.0)
    assert bench.kept == kept(4.0, 0, 0.0, 1)
    assert bench.learner.undone == 2


def test_a_unit_that_went_within_a_step_loses_what_it_did_with_more_chips() -> None:
    """The work is by the chips that did it: 15 s of eight, 13 s of four."""
    bench = Bench(shrinks(15.0), strike(30.0, 0, back=40.0), saves=Saves(steps=9)).run(45.0)
    assert bench.books["wasted_progress"] == 8 * 15 + 4 * 13


def test_a_learner_goes_back_to_what_it_had_done_by_a_save() -> None:
    """From 3.5 steps to one: 25 s of compute, two steps and their tokens have come to nothing."""
    bench = Bench()
    states: list[Unsaved] = []

    def save() -> None:
        bench.body.settle()
        states.append(bench.learner.progress)

    def back() -> None:
        bench.body.settle()
        bench.learner.lose()
        bench.learner.go_back(states[0], ("bits", "job"))

    bench.at(10.0, save)
    bench.at(35.0, back)
    bench.run(35.5)
    assert bench.kept == kept(80.0, 1, 16.0, 10)
    assert bench.books["wasted_progress"] == 8 * 25.0
    assert bench.ledger.losses.chip_seconds[("bits", "job")] == 8 * 20.0
    assert (bench.learner.steps, bench.learner.undone) == (3, 2)


def test_what_it_went_back_to_is_saved() -> None:
    """So that a loss after that takes back only what came later."""
    bench = Bench(saves=Saves(steps=9))

    def back() -> None:
        bench.body.settle()
        bench.learner.lose()
        bench.learner.go_back(Unsaved([80.0], 1, 16.0, 10 * SECOND), BLAME)
        bench.learner.restore()

    bench.at(35.0, back)
    assert bench.run(35.5).kept == kept(80.0, 1, 16.0, 10)


def test_a_learner_that_waits_is_there_unless_for_its_peers() -> None:
    """A leg to 10 s, bytes until 13 s, peers until 18 s: `up` has the first two alone."""
    bench = Bench(leg=1, then=lambda learner: learner.wait(EXPOSED))
    bench.at(13.0, lambda: bench.learner.wait(PEERS))
    bench.at(18.0, lambda: bench.begin(bench.learner))
    bench.run(20.0)
    assert bench.books == {
        "productive": 8 * 12.0,
        "exposed_communication": 8 * 3.0,
        "waiting_on_peers": 8 * 5.0,
    }
    assert bench.running.total == 15 * SECOND
    assert (bench.running.breaks, bench.running.absent) == (1, 5 * SECOND)
    assert bench.computing.total == 12 * SECOND
    assert bench.waits == [
        (10.0, 13.0, "exposed_communication"),
        (13.0, 18.0, "waiting_on_peers"),
    ]


def test_a_wait_at_the_end_of_the_run_is_noted() -> None:
    """It is no shorter for it."""
    bench = Bench(leg=1, then=lambda learner: learner.wait(EXPOSED)).run(14.0)
    assert bench.waits == [(10.0, 14.0, "exposed_communication")]


def test_who_is_told_nothing_waits_for_its_peers() -> None:
    """Nobody said for what."""
    bench = Bench(leg=1, then=lambda learner: None).run(14.0)
    assert bench.books == {"productive": 80.0, "waiting_on_peers": 32.0}


@pytest.mark.parametrize(("account", "there"), [(EXPOSED, 6.0), (PEERS, 0.0)])
def test_a_wait_that_begins_in_a_stall_is_booked_from_its_end_on(
    account: Account, there: float
) -> None:
    """A slice goes at 9 s, for 2 s; at 10 s the learner is told for what it is to wait."""
    bench = Bench(shrinks(9.0), leg=1)
    bench.learner.on_ready = lambda learner: None

    def tell() -> None:
        bench.body.settle()
        bench.learner.lose()
        bench.learner.wait(account)

    bench.at(10.0, tell)
    bench.run(17.0)
    assert bench.books["elastic_downscale"] == 4 * 2.0
    assert bench.books[account.label] == 4 * 6.0
    assert bench.running.total == (9.0 + there) * SECOND
    assert bench.computing.total == 9 * SECOND
    assert bench.waits == [(11.0, 17.0, account.label)]


def test_a_stall_is_no_time_in_which_it_runs() -> None:
    """2 s for a slice that goes."""
    bench = Bench(shrinks(15.0)).run(20.0)
    for presence in (bench.running, bench.computing):
        assert presence.total == 18 * SECOND
        assert (presence.breaks, presence.absent) == (1, 2 * SECOND)


def test_a_lost_unit_runs_no_more() -> None:
    """From then on."""
    bench = Bench(lost(15.0)).run(20.0)
    assert (bench.running.total, bench.computing.total) == (15 * SECOND, 15 * SECOND)


def test_a_save_is_time_in_which_it_runs_and_does_not_compute() -> None:
    """3 s from 20 s on."""
    bench = Bench(saves=EVERY_15).run(30.0)
    assert (bench.running.total, bench.running.breaks) == (30 * SECOND, 0)
    assert (bench.computing.total, bench.computing.absent) == (27 * SECOND, 3 * SECOND)


@pytest.mark.parametrize("leg", [1, 3])
def test_each_step_waits_for_its_own_data(leg: int) -> None:
    """For 2, 0 and 4 s: they end at 12, 22 and 36 s, and the waits are running time."""
    bench = Bench(leg=leg, data=[2.0, 0.0, 4.0, 0.0, 0.0, 0.0]).run(36.5)
    assert bench.books == {"productive": 8 * 30.5, "waiting_on_data": 8 * 6.0}
    assert bench.kept == kept(8 * 30.5, 3, 48.0, 30)
    assert (bench.running.total, bench.computing.total) == (
        round(36.5 * SECOND),
        305 * SECOND // 10,
    )
    assert bench.waits == [(0.0, 2.0, "waiting_on_data"), (22.0, 26.0, "waiting_on_data")]


def test_a_stall_interrupts_the_wait_for_data() -> None:
    """Half of 4 s have passed by 2 s; a slice goes for 2 s, and the step computes from 6 s on."""
    bench = Bench(shrinks(2.0), leg=2, data=[4.0, 0.0]).run(17.0)
    assert bench.books["waiting_on_data"] == 8 * 2 + 4 * 2
    assert bench.books["productive"] == 4 * 11
    assert bench.kept.steps == 1


def test_a_loss_takes_the_wait_for_data_too() -> None:
    """The next step has its own to wait for, from its beginning on."""
    bench = Bench(lost(2.0, back=3.0), leg=1, data=[4.0, 1.0, 0.0, 0.0]).run(19.5)
    assert bench.books["waiting_on_data"] == 8 * (2 + 1)
    assert bench.kept == kept(8 * 10.5, 1, 16.0, 10)
    assert bench.learner.discarded == 1


@pytest.mark.parametrize("leg", [1, 6])
def test_a_save_comes_before_the_wait_for_the_next_steps_data(leg: int) -> None:
    """Due after two steps, at 24 s; the third waits for its data from 27 s on."""
    bench = Bench(saves=EVERY_15, leg=leg, data=[2.0] * 6).run(45.0)
    assert bench.saved == [27.0]
    assert bench.books["checkpoint_save"] == 8 * 3.0
    assert bench.waits[2:4] == [(27.0, 29.0, "waiting_on_data"), (39.0, 41.0, "waiting_on_data")]


@pytest.mark.parametrize("leg", [1, 6])
@pytest.mark.parametrize("data", [[], [0.0] * 6])
def test_nothing_is_saved_within_a_step(leg: int, data: list[float]) -> None:
    """Due after 15 s of running, the unit stalls within its second step, and goes on with that."""
    bench = Bench(shrinks(16.0), saves=EVERY_15, leg=leg, data=data).run(26.0)
    assert bench.saved == [25.0]
    assert bench.books["productive"] == 8 * 16 + 4 * (4 + 1)


def test_a_change_of_pace_at_a_boundary_takes_no_save_away() -> None:
    """The save that is due at 20 s begins there, though the unit is slow no more from then on."""
    for leg in (1, 100):
        assert Bench(slowed(0.0, back=40.0), saves=EVERY_15, leg=leg).run(50.0).saved == [43.0]


def test_ticks_are_counted_alike_however_a_leg_is_cut() -> None:
    """Legs of one step, or of all, stalls and slow times among them, give the same books."""

    def books(leg: int) -> tuple[object, ...]:
        history = [slowed(13.0, back=27.0), shrinks(31.0), strike(55.0, 0, back=60.0)]
        bench = Bench(*history, leg=leg, saves=EVERY_15).run(90.0)
        return bench.books, bench.kept, bench.saved, bench.computing.total

    assert books(1) == books(2) == books(100)
