"""`ddsim list`: what there is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import getdoc

import click

from ddsim.cli.base import talk_options

EXAMPLE = """Example:

\b
  ddsim list
  ddsim list scenarios
  ddsim list chips --json
"""


@dataclass(frozen=True)
class Entry:
    """A name and what it stands for, or `more` that is said of it, by column."""

    name: str
    about: str = ""
    more: Mapping[str, str] = field(default_factory=dict)


def scenarios() -> list[Entry]:
    """Return the shipped scenarios, each with its description."""
    from ddsim.scenario import shipped

    return [Entry(name, shipped.description(name)) for name in shipped.names()]


def methods() -> list[Entry]:
    """Return the ways of training, in the registry's order."""
    from ddsim.methods import get, names

    return [Entry(name, getattr(get(name), "summary", "")) for name in names()]


def distributions() -> list[Entry]:
    """Return the distributions that times may follow."""
    from ddsim.world.distributions import registry

    return [Entry(name, _first_line(registry.family(name))) for name in registry.names()]


def chips() -> list[Entry]:
    """Return the catalogue's chips: peak compute, memory, source."""
    from ddsim.scenario.catalogue import CHIPS

    return [
        Entry(
            chip.name,
            f"{chip.flops / 1e12:g} TFLOP/s, {chip.memory / 1e9:g} GB; {chip.source}",
        )
        for chip in CHIPS.values()
    ]


def models() -> list[Entry]:
    """Return the catalogue's models: parameters, layers, source."""
    from ddsim.scenario.catalogue import MODELS

    return [
        Entry(
            model.name,
            f"{model.parameters / 1e9:g}B parameters, {model.layers} layers; {model.source}",
        )
        for model in MODELS.values()
    ]


def places() -> list[Entry]:
    """Return the catalogue's cloud regions: city, latitude and longitude."""
    from ddsim.scenario.places import places as catalogue

    return [
        Entry(place.name, f"{place.city}, {place.latitude:g} N, {place.longitude:g} E")
        for place in catalogue().values()
    ]


def problems() -> list[Entry]:
    """Return the problems that a model can be trained on."""
    from ddsim.learning.problem import get, names

    return [Entry(name, _first_line(get(name))) for name in names()]


def quantizers() -> list[Entry]:
    """Return what outer gradients can be sent as."""
    from ddsim.learning.quantization import get, names

    return [Entry(name, getattr(get(name), "summary", "")) for name in names()]


def formats() -> list[Entry]:
    """Return the formats of logs that can be read, in `trace` or `calibrate`."""
    from ddsim.logs import KINDS, presets

    kinds = [Entry(name, f"{kind.form}, found without a name") for name, kind in KINDS.items()]
    return [*(Entry(name, one.about) for name, one in presets().items()), *kinds]


def metrics() -> list[Entry]:
    """Return what runs and studies count: heading in tables, unit, which direction is better."""
    from ddsim.results.metrics import METRICS

    return [
        Entry(
            item.name,
            more={
                "heading": item.heading,
                "unit": item.unit,
                "direction": item.direction,
            },
        )
        for item in METRICS.values()
    ]


def policies() -> list[Entry]:
    """Return the policies that settings of decoupled_diloco may follow."""
    from ddsim.engine.policies import get, names

    return [Entry(name, getattr(get(name), "summary", "")) for name in names()]


def laws() -> list[Entry]:
    """Return the laws from tokens to loss."""
    from ddsim.quality import get, names

    return [Entry(name, get(name).summary or _first_line(get(name))) for name in names()]


def _first_line(thing: object) -> str:
    return (getdoc(thing) or "").partition("\n")[0]


TOPICS: dict[str, Callable[[], list[Entry]]] = {
    "scenarios": scenarios,
    "methods": methods,
    "policies": policies,
    "distributions": distributions,
    "problems": problems,
    "quantizers": quantizers,
    "laws": laws,
    "chips": chips,
    "models": models,
    "metrics": metrics,
    "places": places,
    "formats": formats,
}


@click.command(name="list", short_help="List what there is.", epilog=EXAMPLE)
@click.argument("topic", type=click.Choice(list(TOPICS)), required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
@talk_options
def command(topic: str | None, as_json: bool) -> None:
    """List what there is: everything, or one TOPIC."""
    from ddsim.cli.documents import print_json

    chosen = {name: TOPICS[name]() for name in ([topic] if topic else TOPICS)}
    if as_json:
        print_json(
            {
                name: {item.name: dict(item.more) or item.about for item in items}
                for name, items in chosen.items()
            }
        )
        return
    for index, (name, items) in enumerate(chosen.items()):
        if index:
            click.echo()
        _show(name, items)


def _show(name: str, items: list[Entry]) -> None:
    from ddsim.cli.tables import show

    if items and items[0].more:
        show([name, *items[0].more], [[item.name, *item.more.values()] for item in items], left=4)
    elif items:
        show([name, ""], [[item.name, item.about] for item in items], left=2)
    else:
        click.echo(f"{name}\nnone yet")
