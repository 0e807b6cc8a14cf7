"""What a replay does with a tape: losses of work, returns, curves, errors, resuming."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ddsim.engine import tape as t
from ddsim.learning import (
    Curve,
    InnerConfig,
    LearningConfig,
    LearningError,
    OuterConfig,
    Problem,
    Schedule,
    Shard,
    StackedProblem,
    Tensors,
    even,
    lockstep,
    problem,
    replay,
)
from ddsim.learning.problem import make
from ddsim.learning.replay import Replay
from ddsim.learning.saving import Saver

FULL = (1.0, 1.0)


@problem("test_line")
class Line(Problem):
    """A straight line through noisy points: what a user writes, and ways in which it can fail."""

    def __init__(self, rng: np.random.Generator, fault: str = "", at: int = 20) -> None:
        self.fault, self.at, self.calls, self.drawn = fault, at, 0, 0

    def initial(self, rng: np.random.Generator) -> Tensors:
        """Begin at 0."""
        if self.fault == "initial":
            return {"slope": np.array(np.nan)}
        return {"slope": np.zeros(()), "bias": np.zeros(2)}

    def batch(self, rng: np.random.Generator, size: int, shard: Shard) -> Any:
        """Draw points."""
        self.drawn += 1
        if self.fault == "batch" and self.drawn >= self.at:
            raise LookupError("no data")
        x = rng.standard_normal(size)
        return x, 2.0 * x + 1.0 + 0.1 * rng.standard_normal(size)

    def gradient(self, parameters: Tensors, batch: Any) -> tuple[float, Tensors]:
        """Mean squared error, or a fault at some call."""
        x, y = batch
        error = parameters["slope"] * x + parameters["bias"].sum() - y
        loss = float(np.mean(error**2))
        tensors = {"slope": 2 * np.mean(error * x), "bias": np.full(2, 2 * np.mean(error))}
        self.calls += 1
        if self.calls >= self.at:
            if self.fault == "raise":
                raise ZeroDivisionError("no more")
            if self.fault == "in place":
                parameters["bias"][:] -= 0.1
            if self.fault == "nan":
                tensors["slope"] = np.array(np.nan)
            if self.fault == "loss":
                loss = float("inf")
            if self.fault == "shape":
                tensors["bias"] = np.zeros(3)
            if self.fault == "missing":
                del tensors["bias"]
            if self.fault == "text":
                tensors["bias"] = np.array(["a", "b"])
            if self.fault == "no loss":
                return None, tensors  # type: ignore[return-value]
            if self.fault == "list":
                return loss, list(tensors.values())  # type: ignore[return-value]
        return loss, tensors

    def evaluate(self, parameters: Tensors) -> float:
        """Distance from the line."""
        far = (parameters["slope"] - 2.0) ** 2 + (parameters["bias"].sum() - 1.0) ** 2
        if self.fault == "changed":
            parameters["bias"].sort()
        if self.fault == "no evaluation":
            raise OSError("no file")
        return float("nan") if self.fault == "evaluate" else float(far)


def line(learners: int = 2, **options: Any) -> LearningConfig:
    """The line, trained by SGD."""
    return LearningConfig(
        "test_line",
        **even(learners, 8),
        fragments=2,
        options=options,
        inner=InnerConfig("sgd"),
        schedule=Schedule(0.05, "constant", 0.0),
    )


def model(tape: Sequence[t.Event], config: LearningConfig, seed: int = 0) -> Any:
    """Parameters at the end of a tape."""
    run = Replay(tape, config, seed)
    assert run.run().diverged is None
    return run.parameters.copy()


def test_a_user_s_problem_learns() -> None:
    """A class with four methods is trained by every kind of tape."""
    for tape in (
        lockstep.data_parallel(2, 100),
        lockstep.diloco(2, 100, 10, 2),
        lockstep.streaming(2, 100, 10, 2, 1),
    ):
        (curve,) = replay(tape, line())
        assert curve.initial_loss == 5.0
        assert curve.final_loss < 0.05


FAULTS = [
    ("raise", "learner 1 at step 10: its gradient raised ZeroDivisionError: no more"),
    ("in place", r"learner 1 at step 10: .*read-only \(.*test_learning_replay.py:\d+\), since"),
    ("shape", r'learner 1 at step 10: a gradient of shape \(3,\) for "bias", whose shape is \(2,'),
    ("missing", 'learner 1 at step 10: no gradient of "bias"'),
    ("batch", "learner 1 at step 10: its batch raised LookupError: no data"),
    ("text", "learner 1 at step 10: gradients that are not numbers"),
    ("no loss", "learner 1 at step 10: a loss of None, not a number"),
    ("list", "learner 1 at step 10: gradients as a list, not a mapping by name"),
]
# of a job of two units, one step is a gradient of each
TAPES = [lockstep.streaming(2, 30, 1, 1), lockstep.data_parallel(2, 30)]


@pytest.mark.parametrize("tape", TAPES, ids=["learners", "job"])
@pytest.mark.parametrize(("fault", "message"), FAULTS)
def test_a_problem_that_fails_is_an_error_that_names_learner_and_step(
    fault: str, message: str, tape: t.Tape
) -> None:
    """The twentieth gradient is learner 1's tenth."""
    with pytest.raises(LearningError, match=f"problem test_line, {message}"):
        replay(tape, line(fault=fault))


def test_an_evaluation_that_fails_is_an_error() -> None:
    """It is of the merged model, before the first step."""
    message = "the merged model at step 0: its evaluation raised OSError: no file"
    with pytest.raises(LearningError, match=message):
        replay(TAPES[0], line(fault="no evaluation"))


def test_an_evaluation_that_changes_the_merged_model_is_an_error() -> None:
    """It is handed the model itself."""
    with pytest.raises(LearningError, match="may not be changed in place"):
        replay(TAPES[0], line(fault="changed"))


@problem("test_stack")
class Stack(StackedProblem):
    """Learners side by side, one of which has bad data from some step on."""

    def __init__(self, rng: np.random.Generator, fault: str = "", learner: int = 2) -> None:
        self.fault, self.learner, self.drawn = fault, learner, 0

    def initial(self, rng: np.random.Generator) -> Tensors:
        """Begin at 0."""
        return {"x": np.zeros(3)}

    def batch(self, rng: np.random.Generator, size: int, shard: Shard) -> Any:
        """Draw numbers; the fifth of the chosen learner are none."""
        x = rng.standard_normal((size, 3))
        if shard.learner == self.learner:
            self.drawn += 1
            if self.drawn == 5:
                x[0] = np.nan
        return x

    def gradients(self, parameters: Tensors, batches: Sequence[Any]) -> tuple[Any, Tensors]:
        """Of the distance from the mean of a batch."""
        means = np.stack([batch.mean(axis=0) for batch in batches])
        if self.fault == "raise" and not np.isfinite(means).all():
            raise ArithmeticError("bad data")
        far = parameters["x"] - means
        losses = (far**2).sum(axis=1)
        return losses[:-1] if self.fault == "losses" else losses, {"x": 2.0 * far}

    def evaluate(self, parameters: Tensors) -> float:
        """Distance from 0."""
        return float((parameters["x"] ** 2).sum())


def stack(fault: str) -> LearningConfig:
    """Four learners side by side."""
    config = LearningConfig("test_stack", **even(4, 2), options={"fault": fault})
    return replace(config, inner=InnerConfig("sgd"))


@pytest.mark.parametrize("tape", [lockstep.diloco(4, 12, 4), lockstep.data_parallel(4, 12)])
def test_of_learners_side_by_side_the_one_that_fails_is_named(tape: t.Tape) -> None:
    """Whether its gradient raises or is not finite."""
    with pytest.raises(LearningError, match="learner 2 at step 5: its gradient raised Arithm"):
        replay(tape, stack("raise"))
    (curve,) = replay(tape, stack(""))
    assert curve.diverged is not None
    assert (curve.diverged.learner, curve.diverged.step) == (2, 5)
    with pytest.raises(LearningError, match=r"losses of shape \(3,\) for 4 learners"):
        replay(tape, stack("losses"))


@pytest.mark.parametrize("tape", TAPES, ids=["learners", "job"])
@pytest.mark.parametrize(("fault", "what"), [("nan", "gradient"), ("loss", "loss is inf")])
def test_a_run_that_diverges_is_marked_with_learner_and_step(
    fault: str, what: str, tape: t.Tape
) -> None:
    """The curve up to there stands; there is no final loss."""
    (curve,) = replay(tape, line(fault=fault))
    assert curve.diverged is not None
    assert (curve.diverged.learner, curve.diverged.step) == (1, 10)
    assert what in str(curve.diverged)
    assert np.isnan(curve.final_loss)
    assert len(curve.points) > 5


def test_steps_too_long_diverge_and_say_so() -> None:
    """On the quadratic a rate above 2 / curvature grows until numbers end."""
    config = LearningConfig(
        "noisy_quadratic",
        **even(2, 4),
        inner=InnerConfig("sgd"),
        schedule=Schedule(50.0, "constant", 0.0),
    )
    for tape in (lockstep.data_parallel(2, 200), lockstep.diloco(2, 200, 1)):
        (curve,) = replay(tape, config)
        assert curve.diverged is not None
        assert 10 < curve.diverged.step < 200


def test_a_loss_that_is_no_number_marks_the_merged_model() -> None:
    """There is no learner to name."""
    (curve,) = replay(lockstep.diloco(2, 20, 10), line(fault="evaluate"))
    assert curve.diverged is not None
    assert curve.diverged.learner is None
    assert np.isnan(curve.initial_loss)


def test_initial_parameters_that_are_no_numbers_are_an_error() -> None:
    """Before any step."""
    with pytest.raises(LearningError, match='initial parameter "slope" is not made of finite'):
        replay([], line(fault="initial"))


def test_an_option_that_a_problem_does_not_take_is_an_error() -> None:
    """With those that it does."""
    with pytest.raises(LearningError, match='no option "widht"; it takes features'):
        make("mlp", {"widht": 3})
    with pytest.raises(LearningError, match="mlp: its initial parameters: ValueError"):
        replay([], LearningConfig("mlp", **even(1, 1), options={"width": -3}))
    with pytest.raises(LearningError, match="noisy_quadratic: ValueError: 9 tensors of 3"):
        make("noisy_quadratic", {"dimensions": 3, "tensors": 9})
    with pytest.raises(LearningError, match='unknown problem "nothing"'):
        make("nothing", {})


def test_a_second_problem_of_a_name_is_refused() -> None:
    """Else one would train another's."""

    class Other(Line):
        pass

    with pytest.raises(ValueError, match="already registered"):
        problem("mlp")(Other)


BAD_TAPES: list[tuple[t.Tape, str]] = [
    ([t.Steps(2.0, 0, 1, 1.0), t.Steps(1.0, 0, 1, 1.0)], "goes back in time at event 1"),
    ([t.Steps(1.0, 5, 1, 1.0)], "no learner 5 among 2"),
    ([t.Receive(1.0, 0, 3)], "nothing was merged before event 0"),
    ([t.Merge(1.0, 1, (0,), (0,), (1.0,))], "merged without an answer"),
]


@pytest.mark.parametrize(("tape", "message"), BAD_TAPES)
def test_a_tape_that_makes_no_sense_is_an_error(tape: t.Tape, message: str) -> None:
    """It names the event."""
    with pytest.raises(LearningError, match=message):
        replay(tape, line())


# Data-parallel.


def steps(begun: float, count: int, shares: tuple[float, ...] = FULL) -> t.JobSteps:
    """Steps of a second each."""
    return t.JobSteps(begun + count, count, shares, begun)


def test_work_lost_to_a_failure_is_lost_for_the_model() -> None:
    """With what was rolled back the model ends as if it had never been done."""
    tape: t.Tape = [steps(0, 10), t.Save(10.0), steps(10, 7), t.Rollback(17.0), steps(20, 15)]
    quiet = [steps(0, 25)]
    np.testing.assert_array_equal(model(tape, line()), model(quiet, line()))


def test_without_a_save_a_rollback_leads_to_the_beginning() -> None:
    """Parameters are the initial ones again."""
    tape: t.Tape = [steps(0, 10), t.Rollback(10.0), steps(10, 5)]
    np.testing.assert_array_equal(model(tape, line()), model([steps(0, 5)], line()))


def test_the_loss_goes_back_up_at_a_rollback() -> None:
    """The curve shows what the job has."""
    tape: t.Tape = [steps(0, 20), t.Rollback(20.0), steps(30, 10)]
    (curve,) = replay(tape, line())
    losses = {point.time: point.loss for point in curve.points}
    assert losses[19.0] < 1.0
    assert losses[25.0] == losses[0.0] == 5.0
    assert curve.points[-1].tokens == 10 * 16


def test_the_effective_batch_follows_the_chips_that_are_up() -> None:
    """A unit that is out contributes no examples, one of half its chips half of them."""
    sizes: list[tuple[int, int]] = []
    run = Replay([steps(0, 1, (0.5, 0.0)), steps(1, 1, (1.0, 0.75))], line(), 0)
    draw = run.problem.batch

    def noted(rng: Any, size: int, shard: Shard) -> Any:
        sizes.append((shard.learner, size))
        return draw(rng, size, shard)

    run.problem.batch = noted  # type: ignore[method-assign]
    run.run()
    assert sizes == [(0, 4), (0, 8), (1, 6)]
    assert run.curve.points[-1].tokens == 8 * (0.5 + 1.75)


def test_the_schedule_is_stretched_to_the_tokens_of_the_method() -> None:
    """However many steps the tape has, the last is taken at the end of the schedule."""
    asked: list[float] = []

    class Noted(Schedule):
        def at(self, progress: float) -> float:
            asked.append(progress)
            return super().at(progress)

    for count in (10, 40):
        replay([steps(0, count)], replace(line(), schedule=Noted(0.1)))
        assert len(asked) == count
        assert asked[0] == pytest.approx(0.5 / count)
        assert asked[-1] == pytest.approx(1.0 - 0.5 / count)
        asked.clear()


@pytest.mark.slow
def test_a_job_of_one_unit_is_a_learner_whose_outer_step_is_the_identity() -> None:
    """M = 1, H = 1, rate 1 and no momentum, with AdamW and weight decay."""
    config = LearningConfig(
        "mlp",
        **even(1, 16),
        inner=InnerConfig(weight_decay=0.1),
        schedule=Schedule(0.01),
        outer=OuterConfig(1.0, 0.0),
    )
    job = model(lockstep.data_parallel(1, 50), config)
    learner = model(lockstep.diloco(1, 50, 1), config)
    np.testing.assert_allclose(learner, job, atol=1e-5)


# Learners.


@pytest.mark.slow
def test_a_returning_learner_s_moments_are_its_peer_s_and_its_parameters_the_syncer_s() -> None:
    """Parameters as merged up to what has arrived, moments as old as the copy."""
    config = LearningConfig("mlp", **even(2, 16), fragments=2, schedule=Schedule(0.01))
    tape: t.Tape = [*lockstep.streaming(2, 20, 2, 2), t.Steps(21.0, 1, 3, 1.0)]
    run = Replay([*tape, t.Rejoin(22.0, 0, 1, 19)], config, 0)
    run.run()
    crew, layout = run.crew, run.layout
    np.testing.assert_array_equal(crew.moments[0], crew.moments[1])
    assert crew.ages == [23, 23]
    before = Replay(lockstep.streaming(2, 19, 2, 2), config, 0)
    before.plan.progress = run.plan.progress
    before.run()
    # fragment 1 was merged at step 19, fragment 0 at 18; 20 had not arrived
    np.testing.assert_array_equal(crew.parameters[0], before.keeper.parameters)
    assert layout.fragments[0].stop == layout.fragments[1].start


def test_moments_are_as_old_as_the_copy() -> None:
    """What the peer learns while the copy is under way is not in it."""
    config = LearningConfig("mlp", **even(2, 16), schedule=Schedule(0.01))
    before: t.Tape = [t.Steps(1.0, 1, 4, 1.0)]
    later: t.Tape = [t.Fetch(2.0, 0, 1), t.Steps(3.0, 1, 5, 1.0), t.Rejoin(4.0, 0, 1, 0)]
    run = Replay([*before, *later], config, 0)
    run.run()
    then = Replay(before, config, 0)
    then.plan.progress = run.plan.progress
    then.run()
    then.crew.settle()
    np.testing.assert_array_equal(run.crew.moments[0], then.crew.moments[1])
    assert run.crew.ages == [4, 9]


def test_without_a_peer_moments_are_fresh() -> None:
    """Nothing is left of the learner's own, and parameters are the initial ones at slot 0."""
    config = LearningConfig("mlp", **even(2, 16), schedule=Schedule(0.01))
    run = Replay([t.Steps(1.0, 0, 5, 1.0), t.Rejoin(2.0, 0, None, 0)], config, 0)
    initial = run.keeper.parameters.copy()
    run.run()
    assert not run.crew.moments[0].any()
    assert run.crew.ages == [0, 0]
    np.testing.assert_array_equal(run.crew.parameters[0], initial)


def own_round(begun: float, slot: int) -> t.Tape:
    """A round of two learners, three steps long."""
    tape: t.Tape = []
    for at in (1.0, 2.0, 3.0):
        tape += [t.Steps(begun + at, learner, 1, 1.0) for learner in (0, 1)]
    now = begun + 3.0
    tape += [t.Answer(now, learner, slot, (0, 1)) for learner in (0, 1)]
    tape.append(t.Merge(now, slot, (0, 1), (0, 1), (1.0, 1.0)))
    return [*tape, *(t.Receive(now, learner, slot) for learner in (0, 1))]


def test_a_round_that_is_discarded_has_never_been() -> None:
    """Moments, batches and the progress of the schedule are those of the round before."""
    config = LearningConfig("mlp", **even(2, 8), fragments=2, schedule=Schedule(0.01))
    lost: t.Tape = [
        t.Steps(4.0, 0, 1, 1.0),
        t.Steps(4.5, 1, 2, 1.0),
        t.Waste(5.0, 0, 1, 1.0),
        t.Rejoin(5.0, 0, 0, 1),
        t.Waste(5.0, 1, 2, 2.0),
        t.Rejoin(5.0, 1, 1, 1),
    ]
    again: t.Tape = [t.Steps(5.5, 0, 2, 1.0), t.Waste(5.6, 0, 2, 2.0), t.Rejoin(5.6, 0, 0, 1)]
    first = own_round(0.0, 1)
    tape = [*first, *lost, *again, *own_round(6.0, 2)]
    whole = Replay(tape, config, 0)
    whole.run()
    quiet = [*first, *own_round(6.0, 2)]
    np.testing.assert_array_equal(whole.parameters, model(quiet, config))
    assert not whole.crew.marked


def test_a_learner_that_lost_its_hardware_goes_back_to_what_it_came_back_with() -> None:
    """Its own copy of the round before is gone with the hardware."""
    config = LearningConfig("mlp", **even(2, 8), fragments=2, schedule=Schedule(0.01))
    tape: t.Tape = [
        *own_round(0.0, 1),
        *(t.Steps(4.0, learner, 1, 1.0) for learner in (0, 1)),
        t.Rejoin(5.0, 0, 1, 1),
        t.Steps(6.0, 0, 1, 1.0),
        t.Waste(7.0, 0, 2, 2.0),
        t.Rejoin(7.0, 0, 0, 1),
    ]
    run = Replay(tape, config, 0)
    run.run()
    np.testing.assert_array_equal(run.crew.moments[0], run.crew.moments[1])
    assert run.crew.ages == [4, 4]


def test_learners_share_the_progress_of_the_job() -> None:
    """Whoever is lost early or joins late has the rate that all others have at that time."""
    tape: t.Tape = []
    for now in range(1, 11):
        there = [0, *([1] if now <= 3 else []), *([2] if now >= 8 else [])]
        tape += [t.Steps(float(now), learner, 1, 1.0) for learner in there]
    found: dict[int, list[tuple[float, float]]] = {0: [], 1: [], 2: []}
    for place, span in Replay(tape, line(3), 0).plan.progress.items():
        event = tape[place]
        assert isinstance(event, t.Steps)
        found[event.learner].append(span)
    assert found[0][:3] == found[1]
    assert found[0][7:] == found[2]
    assert (found[0][0][0], found[0][9][1]) == (0.0, 1.0)
    assert found[0][3] == pytest.approx((6 / 16, 7 / 16))


def joining_late(learners: int, steps: int, since: float) -> t.Tape:
    """Learners that all answer every step, the last of them from an instant on."""
    last, found, there = learners - 1, list[t.Event](), False
    for event in lockstep.streaming(learners, steps, 6, 6):
        if event.time >= since and not there:
            there = True
            found.append(t.Rejoin(event.time, last, 0, int(event.time) - 1))
        if not there and isinstance(event, t.Merge):
            event = event._replace(learners=event.learners[:-1], weights=event.weights[:-1])
        if there or getattr(event, "learner", None) != last:
            found.append(event)
    return found


@pytest.mark.slow
def test_a_learner_that_joins_late_costs_next_to_nothing() -> None:
    """At 80% of the run, less than 0.3% of the loss of those that were there all along.

    It would be 3% if its own steps were warmed up.
    """
    config = LearningConfig(
        "mlp",
        **even(3, 8),
        fragments=6,
        schedule=Schedule(0.03),
        outer=OuterConfig(0.7, 0.0),
        evaluations=1,
    )
    alone = replace(config, **even(2, 8))
    with_it = replay(joining_late(3, 480, 384.5), config, range(4))
    without = replay(lockstep.streaming(2, 480, 6, 6), alone, range(4))
    ratios = [
        one.final_loss / other.final_loss for one, other in zip(with_it, without, strict=True)
    ]
    assert np.mean(ratios) < 1.003


def test_an_update_is_received_as_its_slot_left_it() -> None:
    """A later merge of the same fragment does not change what an earlier slot's receipt brings."""
    config = line(1)
    tape: t.Tape = [
        t.Steps(1.0, 0, 3, 1.0),
        t.Answer(1.0, 0, 1, (0, 1)),
        t.Merge(1.0, 1, (0, 1), (0,), (1.0,)),
        t.Steps(2.0, 0, 3, 1.0),
        t.Answer(2.0, 0, 2, (0, 1)),
        t.Merge(2.0, 2, (0, 1), (0,), (1.0,)),
        t.Receive(3.0, 0, 1),
    ]
    run = Replay(tape, config, 0)
    run.run()
    run.crew.settle()
    first = Replay(tape[:3], config, 0)
    first.run()
    np.testing.assert_array_equal(run.crew.parameters[0], first.keeper.parameters)
    assert not run.keeper.results


def test_tokens_count_as_merged_once_a_merge_has_them() -> None:
    """Steps that an overwriting threw away never do."""
    tape: t.Tape = [
        t.Steps(1.0, 0, 2, 1.0),
        t.Answer(1.0, 0, 1, (0,)),
        t.Merge(1.0, 1, (0,), (0,), (1.0,)),
        t.Steps(2.0, 0, 1, 1.0),
        t.Receive(2.0, 0, 1),
        t.Steps(3.0, 0, 3, 0.5),
        t.Answer(3.0, 0, 3, (0,)),
        t.Merge(3.0, 3, (0,), (0,), (1.0,)),
    ]
    (curve,) = replay(tape, line(1))
    last = curve.points[-1]
    assert last.tokens == 8 * 4.5
    assert last.merged == 8 * (2 + 1.5) / 2  # of two fragments only one was merged


def test_a_learner_keeps_its_share_of_a_fragment_when_the_update_arrives() -> None:
    """A quarter of its own, and three quarters of the merged one; its steps count as those do."""
    config = replace(line(1), mixing=0.25)
    tape: t.Tape = [
        t.Steps(1.0, 0, 3, 1.0),
        t.Answer(1.0, 0, 1, (0, 1)),
        t.Merge(1.0, 1, (0, 1), (0,), (1.0,)),
        t.Steps(2.0, 0, 2, 1.0),
        t.Receive(3.0, 0, 1),
        t.Answer(3.0, 0, 2, (0, 1)),
        t.Merge(3.0, 2, (0, 1), (0,), (1.0,)),
    ]
    own, mixed = (Replay(tape[:upto], config, 0) for upto in (4, 5))
    for run in (own, mixed):
        run.run()
        run.crew.settle()
    expected = 0.25 * own.crew.parameters[0] + 0.75 * own.keeper.parameters
    np.testing.assert_allclose(mixed.crew.parameters[0], expected, rtol=1e-6)
    (curve,) = replay(tape, config)
    assert curve.points[-1].merged == 8 * (3 + 0.25 * 2)


# Curves and their making.


def test_the_curve_has_a_point_at_each_of_equal_parts() -> None:
    """From 0 to the end, which may lie after the tape's."""
    (curve,) = replay(lockstep.diloco(2, 40, 10), line(), end=50.0)
    assert [point.time for point in curve.points] == pytest.approx(np.linspace(0, 50, 41))
    tokens = [point.tokens for point in curve.points]
    assert tokens == sorted(tokens)
    assert tokens[-1] == 40 * 16


def test_when_a_loss_was_reached_is_read_between_points() -> None:
    """By time, tokens, merged tokens or steps; None for a loss that never was."""
    curve = Curve(0)
    run = Replay(lockstep.data_parallel(2, 40), line(), 0)
    curve = run.run()
    half = (curve.points[10].loss + curve.points[11].loss) / 2
    assert curve.when(half) == pytest.approx(10.5)
    assert curve.when(half, "tokens") == pytest.approx(10.5 * 16)
    assert curve.when(-1.0) is None


def test_the_same_seed_gives_the_same_curve_and_another_another() -> None:
    """Whether alone or among others."""
    tape = lockstep.diloco(2, 40, 10)
    both = replay(tape, line(), [3, 4])
    (alone,) = replay(tape, line(), [4])
    assert alone == both[1]
    assert both[0].points[-1] != both[1].points[-1]


def test_progress_is_told_up_to_the_end() -> None:
    """Out of the same total all the time."""
    told: list[tuple[int, int, str]] = []
    replay(lockstep.streaming(2, 40, 2, 2), line(), [1, 2], lambda *what: told.append(what))
    assert {total for _, total, _ in told} == {told[0][1]}
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)
    assert told[-1][0] == told[-1][1]
    assert told[-1][2] == "seed 2"


@pytest.mark.parametrize("kind", ["job", "learners", "discarded rounds"])
@pytest.mark.slow
def test_an_interrupted_replay_goes_on_where_it_was(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From its own checkpoint, to the same curve, without taking the steps again."""
    tape: t.Tape
    if kind == "job":
        tape = [event for at in range(20) for event in (steps(2 * at, 2), t.Save(2.0 * at + 2))]
    elif kind == "learners":
        tape = lockstep.streaming(2, 40, 4, 4, 2)
    else:
        tape = own_round(0.0, 1)
        for slot in range(1, 6):
            begun = 10.0 * slot
            tape += [t.Steps(begun + 1.0, 0, 2, 1.0), t.Steps(begun + 1.0, 1, 1, 1.0)]
            tape += [t.Waste(begun + 2.0, who, 2 - who, 2.0 - who) for who in (0, 1)]
            tape += [t.Rejoin(begun + 2.0, who, who, slot) for who in (0, 1)]
            tape += own_round(begun + 3.0, slot + 1)
    config = LearningConfig(
        "mlp",
        **even(2, 8),
        fragments=2 if kind == "discarded rounds" else 4,
        outer=OuterConfig(bits=4, error_feedback=True),
    )
    (whole,) = replay(tape, config)
    monkeypatch.setattr("ddsim.learning.saving.Saver.due", lambda self: True)
    broken = Replay(tape, config, 0, checkpoints=tmp_path)
    place = len(tape) // 2
    do = broken._do

    def stop(event: t.Event) -> None:
        if event is tape[place]:
            raise KeyboardInterrupt
        do(event)

    monkeypatch.setattr(broken, "_do", stop)
    with pytest.raises(KeyboardInterrupt):
        broken.run()
    resumed = Replay(tape, config, 0, checkpoints=tmp_path)
    done: list[int] = []
    again = resumed._do

    def counted(event: t.Event) -> None:
        done.append(1)
        again(event)

    monkeypatch.setattr(resumed, "_do", counted)
    assert resumed.run() == whole
    assert len(done) == len(tape) - place
    third = Replay(tape, config, 0, checkpoints=tmp_path)
    monkeypatch.setattr(third, "_do", lambda event: pytest.fail("it was done already"))
    assert third.run() == whole


def test_a_state_is_not_written_through_a_link(tmp_path: Path) -> None:
    """Its name can be worked out, so whoever sends a folder could point it at any file."""
    own = tmp_path / "own"
    own.write_text("mine")
    saver = Saver(tmp_path, [], LearningConfig("mlp", **even(2, 8)), seed=0)
    saver.path.symlink_to(own)
    saver.save({"place": 1})
    assert own.read_text() == "mine"
    assert saver.load() == {"place": 1}


def test_a_checkpoint_of_another_training_is_left_alone(tmp_path: Path) -> None:
    """Another seed or setting has a file of its own; a file that cannot be read is none."""
    tape = lockstep.diloco(2, 20, 10)
    (plain,) = replay(tape, line())
    replay(tape, line(), [1], checkpoints=tmp_path)
    assert replay(tape, line(), checkpoints=tmp_path) == [plain]
    for file in tmp_path.iterdir():
        file.write_bytes(b"no archive")
    assert replay(tape, line(), checkpoints=tmp_path) == [plain]
