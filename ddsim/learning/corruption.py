"""What corruption does to a replay's learners: wrong steps, answers left out, and going back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ddsim.learning.crew import Crew, Wrong
from ddsim.learning.keeper import Keeper
from ddsim.learning.plan import LearnerSave, Plan
from ddsim.learning.tally import Tally
from ddsim.learning.tape import Answer, Corrupt, GoBack


class Corruption:
    """Keeps what learners and the syncer go back to, and what is screened.

    What the learners in `screened` answer is in no merge: whose answers to which slots are
    `left_out`.
    """

    def __init__(self, plan: Plan, crew: Crew, keeper: Keeper, tally: Tally) -> None:
        self._needed = plan.kept
        self._crew = crew
        self._keeper = keeper
        self._kept: dict[LearnerSave, dict[str, Any]] = {
            (learner, 0): self._saved(learner, tally) for learner in sorted(plan.anew)
        }
        self._screened: list[int] = []
        self._left_out: list[tuple[int, int]] = []

    def begin(self, event: Corrupt, wrong: Wrong) -> None:
        """Let a learner's steps be wrong from now on."""
        self._crew.corrupt(event.learner, wrong)
        if event.screened and event.learner not in self._screened:
            self._screened.append(event.learner)

    def begun_anew(self, learners: Iterable[int]) -> None:
        """These learners have a state that is not corrupt."""
        gone = set(learners)
        self._screened = [learner for learner in self._screened if learner not in gone]

    def answered(self, event: Answer) -> None:
        """Note whether an answer is to be in no merge."""
        key = event.slot, event.learner
        if event.learner in self._screened:
            self._left_out.append(key)
        elif key in self._left_out:
            self._left_out.remove(key)

    def leave_out(self, slot: int, learners: Iterable[int]) -> set[int]:
        """Return whose answers to a slot that is merged now are to be left out."""
        keys = [(slot, learner) for learner in learners if (slot, learner) in self._left_out]
        for key in keys:
            self._left_out.remove(key)
        return {learner for _, learner in keys}

    def keep(self, place: int, tally: Tally) -> None:
        """Keep what is saved at a place of the tape, if somebody goes back to it."""
        if place in self._needed:
            save = self._needed[place]
            self._kept[save] = self._saved(save[0], tally)

    def _saved(self, learner: int, tally: Tally) -> dict[str, Any]:
        """Return what a learner's save holds, and with it the syncer's."""
        feedback = self._keeper.feedback
        return {
            "learner": self._crew.keep(learner),
            "syncer": self._keeper.keep(),
            "left_out": None if feedback is None else feedback.left[learner].copy(),
            "brought": [tally.tokens[learner] - held for held in tally.held[learner]],
            "unsettled": [tally.tokens[learner] - settled for settled in tally.settled[learner]],
            "merged": tally.merged,
        }

    def go_back(self, event: GoBack, tally: Tally) -> None:
        """Put learners back to their saves, and what is merged to that of one of them."""
        for save in zip(event.learners, event.saves, strict=True):
            learner, kept = save[0], self._kept[save]
            self._crew.go_back(learner, kept["learner"])
            if self._keeper.feedback is not None:
                self._keeper.feedback.left[learner] = kept["left_out"]
            now = tally.tokens[learner]
            tally.held[learner] = [now - brought for brought in kept["brought"]]
            tally.settled[learner] = [now - tokens for tokens in kept["unsettled"]]
        source = self._kept[event.source]
        self._keeper.go_back(source["syncer"])
        tally.merged = source["merged"]
        self.begun_anew(event.learners)
        for answers in (self._crew.answers, tally.carried, self._left_out):
            answers.clear()
        if self._keeper.feedback is not None:
            self._keeper.feedback.orphans.clear()

    def state(self) -> dict[str, Any]:
        """Return everything that changes."""
        return {"kept": self._kept, "screened": self._screened, "left_out": self._left_out}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state."""
        self._kept, self._screened = dict(state["kept"]), list(state["screened"])
        self._left_out = list(state["left_out"])
