"""A scenario: what a run is made from, a value that says how it can be changed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from pydantic import PrivateAttr

from ddsim.naming import listed
from ddsim.scenario.check_names import no_method, untaught
from ddsim.scenario.contents import Contents
from ddsim.scenario.document import Document, Override
from ddsim.scenario.errors import Problem, ScenarioError
from ddsim.scenario.known import BUILT_IN, Known
from ddsim.scenario.layout import BuiltUnit, built_units
from ddsim.scenario.methods import MethodSpec
from ddsim.scenario.resolved import write
from ddsim.scenario.tree import Place, entry_of, put
from ddsim.scenario.uncertain import Uncertain
from ddsim.scenario.validation import judged


class Scenario(Contents):
    """A validated scenario. Times in s, bandwidths in bit/s, the rest in counts.

    Everything is filled in: the units one by one (`cluster.units`, with `cluster.chips` and
    `cluster.learners` their totals), the regions with their own bandwidths and latencies, the
    model's sizes, the fragments. The files that it names have been read. Two scenarios are equal
    when their contents are, whatever the file they came from.
    """

    _document: Document | None = PrivateAttr(default=None)
    _known: Known = PrivateAttr(default=BUILT_IN)
    _uncertain: tuple[Uncertain, ...] = PrivateAttr(default=())

    @property
    def source(self) -> str:
        """The file that the scenario was read from."""
        return self.document.file

    @property
    def document(self) -> Document:
        """The raw scenario, for further overrides."""
        if self._document is None:
            raise ValueError("this scenario was not made by ddsim.scenario.load or validate")
        return self._document

    @property
    def uncertain(self) -> tuple[Uncertain, ...]:
        """The inputs given as ranges or distributions; here each stands at its median."""
        return self._uncertain

    def units(self) -> tuple[BuiltUnit, ...]:
        """The units as they are built, each with the time of its step."""
        return built_units(self)

    def with_(self, overrides: Mapping[str, object] | Sequence[str]) -> Scenario:
        """The scenario with some paths changed; raises ScenarioError like loading does.

        An override is the last word: it also replaces what a method's own settings say.
        """
        return validate(self.document.with_overrides(overrides), self._known)

    def for_method(self, name: str) -> Scenario:
        """The scenario as one method runs it: that method alone, its own settings applied."""
        chosen = self.choose([name])
        document = chosen.document
        settings = document.settings(name)
        if not settings and not self._uncertain:
            return chosen
        root, _ = document.tree(settings)
        alone = put(root, ("methods",), entry_of([name], Place(option=f"--method {name}")))
        applied = dataclasses.replace(document, root=alone, overrides=())
        return validate(applied, self._known)

    def choose(self, names: Sequence[str]) -> Scenario:
        """The scenario with these methods alone; those it lists keep their settings.

        A method that it does not list runs without settings. Raises ScenarioError for an unknown
        name.
        """
        known = self._known
        option = " ".join(f"--method {name}" for name in names)
        if not names:
            every = listed(sorted(known.methods))
            raise ScenarioError([Problem("--method", None, None, "methods", "no method", every)])
        unknown = [no_method(name, known) for name in names if name not in known.methods]
        if unknown:
            raise ScenarioError([Problem(option, None, None, "methods", *said) for said in unknown])
        settings = {spec.name: spec for spec in self.methods}
        specs = tuple(settings.get(name, MethodSpec(name)) for name in dict.fromkeys(names))
        untaped = [said for spec in specs if (said := untaught(spec, self.learning, known))]
        if untaped:
            raise ScenarioError([Problem(option, None, None, "methods", *said) for said in untaped])
        raw = [{spec.name: spec.settings} if spec.settings else spec.name for spec in specs]
        override = Override("methods", entry_of(raw, Place(option=option)))
        document = self.document
        kept = tuple(item for item in document.overrides if item.path != "methods")
        chosen: Scenario = self.replaced(methods=specs)
        chosen._document = dataclasses.replace(document, overrides=(*kept, override))
        return chosen

    def resolved(self) -> str:
        """The scenario as YAML with everything filled in; loading it gives an equal scenario.

        Files are where they are, so that it may be loaded from any folder.
        """
        python = self._document.python_files() if self._document is not None else ()
        there = self.replaced(python=tuple(str(file.absolute()) for file in python))
        return write(there, self.uncertain)

    @property
    def as_written(self) -> str:
        """The text that it was read from, and what was set beside it; empty without a text."""
        return self._document.as_written if self._document is not None else ""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scenario):
            return NotImplemented
        return self.model_dump() == other.model_dump()

    def __hash__(self) -> int:
        return hash((self.name, self.seed, self.duration, len(self.methods)))


def validate(document: Document, known: Known = BUILT_IN) -> Scenario:
    """The scenario that ``document`` describes, with the names that are ``known``.

    Raises ScenarioError with every problem found.
    """
    contents, inputs = judged(document, known)
    fields = {name: getattr(contents, name) for name in Contents.model_fields}
    scenario = Scenario.model_construct(contents.model_fields_set, **fields)
    scenario._document, scenario._known, scenario._uncertain = document, known, inputs
    return scenario
