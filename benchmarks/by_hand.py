"""What a strike costs at least: the rules of one case once more, all in one function of SimPy's.

Slices fail one by one, stalls absorb what happens in them, repaired slices return or become spares,
steps are compute alone, time goes to accounts; each of that takes an event, as in ddsim. Left out
is what ddsim knows besides: units that are lost whole, saves, links, causes, each unit's own books.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from simpy import Environment

from ddsim.engine.ledger import Account
from ddsim.world.histories import Histories
from ddsim.world.instants import Ticks, ticks
from ddsim.world.stalls import JOB, restarts

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from simpy import Event

    from ddsim.scenario import Scenario

Place = tuple[int, int]

FAILED = Account.FAILED_HARDWARE.label
DETECTION = Account.DETECTION.label
DOWNSCALE = Account.ELASTIC_DOWNSCALE.label
UPSCALE = Account.ELASTIC_UPSCALE.label
RESTART = Account.RESTART.label
STRANDED = Account.STRANDED.label
PRODUCTIVE = Account.PRODUCTIVE.label
WASTED = Account.WASTED_PROGRESS.label
ACCOUNTS = (FAILED, DETECTION, DOWNSCALE, UPSCALE, RESTART, STRANDED, PRODUCTIVE, WASTED)


@dataclass
class Found:
    """What a run comes to: chip-ticks by account, steps, and strikes on what was up."""

    spent: dict[str, int] = field(default_factory=lambda: dict.fromkeys(ACCOUNTS, 0))
    steps: int = 0
    failures: int = 0

    @property
    def goodput(self) -> float:
        """Productive share of all chip-time; spares are in no account."""
        return self.spent[PRODUCTIVE] / sum(self.spent.values())


class World:
    """A settled scenario as these programs read it: equal slices, and strikes on one at a time."""

    def __init__(self, scenario: Scenario) -> None:
        cluster, history = Histories(0).of(scenario)
        self.chips = cluster.chips
        self.sizes = [
            [unit.size(index) for index in range(unit.slice_count)] for unit in cluster.units
        ]
        self.spares = cluster.spares
        self.step = ticks(cluster.units[0].step_time)
        self.downscale = ticks(scenario.elastic.downscale)
        self.upscale = ticks(scenario.elastic.upscale)
        self.restart = restarts(scenario, cluster.chips, JOB, 0)()
        self.horizon = ticks(scenario.duration)
        self.strikes = list(takewhile(lambda strike: strike.time < self.horizon, history))


def elastic(world: World) -> Found:
    """Shrink by what fails, and grow again: `elastic_data_parallel`."""
    env: Any = Environment()  # typed as if its clock counted in floats
    found = Found()
    spent, timeout = found.spent, env.timeout
    chips, sizes, step, spares = world.chips, world.sizes, world.step, world.spares
    healthy, free = chips, spares
    down: set[Place] = set()
    waiting: deque[Place] = deque()
    since = progress = known = 0
    stall = ""

    def settle() -> None:
        nonlocal since, progress
        now = env.now
        spent[FAILED] += (chips - healthy) * (now - since)
        if not stall:
            spent[PRODUCTIVE] += healthy * (now - since)
            count, progress = divmod(progress + now - since, step)
            found.steps += count
        else:
            if since < known:
                until = known if known < now else now
                spent[DETECTION] += healthy * (until - since)
                since = until
            spent[stall] += healthy * (now - since)
        since = now

    def begin(account: str, detection: Ticks, length: Ticks) -> None:
        nonlocal stall, known
        stall, known = account, env.now + detection
        timeout(detection + length).callbacks.append(go_on)

    def go_on(event: Any) -> None:
        nonlocal stall
        settle()
        stall = ""

    def detected(event: Any) -> None:
        nonlocal free
        waiting.append(event.value)
        if free:
            free -= 1
            fill(waiting.popleft())

    def back(event: Any) -> None:
        nonlocal free
        if not spares:
            fill(event.value)
        elif waiting:
            fill(waiting.popleft())
        else:
            free += 1

    def fill(place: Place) -> None:
        nonlocal healthy
        settle()
        down.remove(place)
        healthy += sizes[place[0]][place[1]]
        if not stall:
            begin(UPSCALE, 0, world.upscale)

    def failures() -> Generator[Event, None, None]:
        nonlocal healthy
        for strike in world.strikes:
            yield timeout(strike.time - env.now)
            place = strike.unit, strike.slices[0]
            if place in down:
                continue
            settle()
            found.failures += 1
            down.add(place)
            healthy -= sizes[place[0]][place[1]]
            if spares:
                timeout(strike.detection, place).callbacks.append(detected)
            timeout(strike.detection + strike.repair, place).callbacks.append(back)
            if not stall:
                begin(DOWNSCALE, strike.detection, world.downscale)

    env.process(failures())
    env.run(world.horizon)
    settle()
    return found


def restarting(world: World) -> Found:
    """Stop at every failure, lose the step, wait for a spare and restart: `data_parallel`."""
    env: Any = Environment()  # typed as if its clock counted in floats
    found = Found()
    spent, timeout = found.spent, env.timeout
    chips, sizes, step = world.chips, world.sizes, world.step
    healthy, free = chips, world.spares
    down: set[Place] = set()
    waiting: deque[Place] = deque()
    stranding: set[Place] = set()
    since = progress = 0
    stall, restarted = "", False

    def settle() -> None:
        nonlocal since, progress
        now = env.now
        spent[FAILED] += (chips - healthy) * (now - since)
        spent[stall or PRODUCTIVE] += healthy * (now - since)
        if not stall:
            count, progress = divmod(progress + now - since, step)
            found.steps += count
        since = now

    def detected(event: Any) -> None:
        nonlocal free
        place, stops = event.value
        settle()
        waiting.append(place)
        if free:
            free -= 1
            fill(waiting.popleft())
        if stops:
            wait_for(set(waiting))

    def back(event: Any) -> None:
        nonlocal free
        if waiting:
            settle()
            fill(waiting.popleft())
        else:
            free += 1

    def fill(place: Place) -> None:
        nonlocal healthy
        down.remove(place)
        healthy += sizes[place[0]][place[1]]
        if stall is STRANDED:
            wait_for(down if restarted else stranding & down)

    def wait_for(places: set[Place]) -> None:
        nonlocal stall, stranding
        if places:
            stall, stranding = STRANDED, places
        elif restarted:
            stall = ""
        else:
            stall = RESTART
            timeout(world.restart).callbacks.append(go_on)

    def go_on(event: Any) -> None:
        nonlocal restarted
        settle()
        restarted = True
        wait_for(down)

    def failures() -> Generator[Event, None, None]:
        nonlocal healthy, stall, progress, restarted
        for strike in world.strikes:
            yield timeout(strike.time - env.now)
            place = strike.unit, strike.slices[0]
            if place in down:
                continue
            settle()
            found.failures += 1
            stops = not stall
            if stops:
                stall, restarted = DETECTION, False
                spent[PRODUCTIVE] -= healthy * progress
                spent[WASTED] += healthy * progress
                progress = 0
            down.add(place)
            healthy -= sizes[place[0]][place[1]]
            timeout(strike.detection, (place, stops)).callbacks.append(detected)
            timeout(strike.detection + strike.repair).callbacks.append(back)

    env.process(failures())
    env.run(world.horizon)
    settle()
    return found


BY_HAND: dict[str, Callable[[World], Found]] = {
    "elastic_data_parallel": elastic,
    "data_parallel": restarting,
}
