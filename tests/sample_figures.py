"""Figures of values made by hand."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import nan

from matplotlib.axes import Axes
from sample_results import comparison, record

from ddsim import plot
from ddsim.bandwidth import BandwidthStudy, StepModel, bandwidth_study, every_method
from ddsim.figures.bars import bars
from ddsim.figures.beside import Curve, beside
from ddsim.figures.dots import dots
from ddsim.figures.heatmap import heatmap
from ddsim.results import Merge, MethodResult, Results
from ddsim.study.grid import BASE, INPUT, CellName, Label
from ddsim.study.results import Study
from ddsim.study.work import Row


def two_curves() -> Axes:
    """Two curves, one of them with an interval and published values at two of three places."""
    return beside(
        [
            Curve("first", "#d55e00", (1, 10, 100), (5, 50, 90), (6, nan, 91), (1, 4, 2)),
            Curve("second", "#0072b2", (1, 10, 100), (40, 80, 99), line="dashed"),
        ],
        title="Two curves",
        x="bandwidth (Gbit/s)",
        y="utilization (%)",
        log_x=True,
        ticks=(1, 10, 100),
    )


def quality_bars() -> Axes:
    """Two series in two groups, one value missing."""
    return bars(
        ["a", "b"],
        {"goodput": [80, 60], "merged": [3, nan]},
        {"goodput": "#0072b2", "merged": "#e69f00"},
        title="Bars",
        x="setting",
        y="share (%)",
        published={"goodput": [82, nan]},
    )


def three_rows() -> Axes:
    """Three rows with values, two of them published, one value with an interval of no width."""
    return dots(
        ["first", "second", "third"],
        [0.0, 3.0, 40.0],
        [1.0, nan, 50.0],
        half_width=[0.0, 1.0, 5.0],
        title="Rows",
        x="failures",
        colour="#d55e00",
        log=True,
    )


def several_histories() -> Results:
    """Two methods with spare chips, whose intervals are lopsided and are not."""
    accounts = {"productive": 0.5, "restart": 0.4, "unallocated": 0.1}
    first = record("data_parallel", 5 / 9, accounts=accounts)
    first = replace(first, goodput_ci95=(0.5, 0.58), merged_goodput_ci95=(0.412, 0.58))
    other = record("decoupled_diloco")
    merged = other.merged_goodput
    other = replace(
        other, goodput_ci95=(0.88, 0.92), merged_goodput_ci95=(merged - 0.02, merged + 0.02)
    )
    return replace(comparison(3), results=[first, other])


def losses() -> Results:
    """Two trainings, one of which stops learning."""

    def trained(method: str, last: float) -> MethodResult:
        times = [600.0 * index for index in range(7)]
        curve = [[at, 1e6 * at, 3.3 - (3.3 - last) * at / times[-1]] for at in times]
        learning = {
            "initial_loss": 3.3,
            "final_loss": last,
            "curve": curve,
            "steps": [point[0] / 10 for point in curve],
            "tokens_merged": [0.9 * point[1] for point in curve],
        }
        return record(method, learning=learning)

    results = [trained("data_parallel", 2.4), trained("decoupled_diloco", 1.2)]
    return replace(comparison(), results=results)


def study_of(bits: tuple[int, ...] = (4, 16)) -> Study:
    """Two methods over four bandwidths and so many bits, three histories each."""
    rates = ("1 Gbit/s", "2 Gbit/s", "5 Gbit/s", "40 Gbit/s")
    columns = ("network.bandwidth", "training.payload_bits")[: 1 if len(bits) == 1 else 2]
    cells: list[CellName] = []
    rows: dict[int, list[Row]] = {}
    for method, share in (("diloco", 0.6), ("decoupled_diloco", 0.95)):
        for place, rate in enumerate(rates):
            for width in bits:
                pair: tuple[Label, Label] = (rate, width)
                settings = dict(zip(columns, pair, strict=False))
                mean = share * (place + 1) / 4 * (1 if width == 4 else 0.6)
                rows[len(cells)] = [{"goodput": mean + off} for off in (-0.02, 0.0, 0.02)]
                cells.append(CellName(len(cells), method, settings))
    return Study(
        scenario="sample",
        seed=1,
        version="0.1.0",
        metric="goodput",
        columns=columns,
        cells=tuple(cells),
        rows=rows,
    )


def uncertain() -> Study:
    """A method with two uncertain inputs, one of which matters."""
    levels = {
        BASE: 0.5,
        "failures.detection = 1 s": 0.7,
        "failures.detection = 600 s": 0.2,
        "restart.time = 10 s": 0.52,
        "restart.time = 90 s": 0.48,
    }
    return Study(
        scenario="sample",
        seed=1,
        version="0.1.0",
        metric="goodput",
        columns=(INPUT,),
        cells=tuple(CellName(n, "diloco", {INPUT: level}) for n, level in enumerate(levels)),
        rows={
            n: [{"goodput": mean + off} for off in (-0.02, 0.0, 0.02)]
            for n, mean in enumerate(levels.values())
        },
    )


def thin_links() -> BandwidthStudy:
    """Every method on a 12B model at four sites."""
    model = StepModel(12e9, 48, 0.87, 24, 24, 2, 16, 4, 4)
    return bandwidth_study(every_method(model), (0.5, 0.9))


def far_apart() -> StepModel:
    """A 12B model at four sites, 60 ms there and back."""
    return StepModel(12e9, 48, 0.87, 24, 24, 2, 16, 4, 4, latency=0.030)


def map_of() -> Axes:
    """A study of four pairs of values, one of them not done."""
    pairs = [(rate, bits) for rate in ("1 Gbit/s", "5 Gbit/s") for bits in (4, 16)]
    found = {0: 0.3, 1: 0.1, 2: 0.9}
    study = Study(
        scenario="sample",
        seed=1,
        version="0.1.0",
        metric="goodput",
        columns=("network.bandwidth", "training.payload_bits"),
        cells=tuple(
            CellName(index, "diloco", {"network.bandwidth": rate, "training.payload_bits": bits})
            for index, (rate, bits) in enumerate(pairs)
        ),
        rows={
            index: [{"goodput": mean - 0.05}, {"goodput": mean + 0.05}]
            for index, mean in found.items()
        },
    )
    return heatmap(study)


def merging() -> Results:
    """Two learners: a merge of one, two that overlap, and hours later one of both."""
    results = comparison()
    merges = (
        Merge(1, (0,), 2.0, 6.0, ("west",)),
        Merge(2, (1,), 11.0, 16.0, ("east", "west")),
        Merge(3, (2,), 13.0, 18.0, ("west",)),
        Merge(4, (3,), 18000.0, 25200.0, ("east", "west")),
    )
    return replace(
        results,
        results=[replace(item, merges=merges) if item.merges else item for item in results.results],
    )


def to_a_loss() -> Results:
    """Three methods on the way to a loss, the worse end of one of which never comes there."""

    def valued(method: str, hours: list[float | None]) -> MethodResult:
        said = {"loss": [2.4, 2.5, 2.6], "hours_to_target": hours, "cost_to_target": None}
        return record(method, quality={**said, "law": "power_law", "target": 2.2})

    results = [
        valued("data_parallel", [900.0, 900.0, 900.0]),
        valued("diloco", [120.0, 240.0, 700.0]),
        valued("decoupled_diloco", [90.0, 160.0, None]),
    ]
    return replace(comparison(), results=results)


def contest() -> Study:
    """Who is first over two bandwidths and two models: one, two that overlap, nobody."""
    ends = ("hours_to_target_best", "hours_to_target", "hours_to_target_worst")
    found: dict[tuple[str, str], dict[str, tuple[float | None, float | None, float | None]]] = {
        ("8B", "1 Gbit/s"): {"data_parallel": (900, 900, 900), "diloco": (100, 120, 150)},
        ("8B", "100 Gbit/s"): {"data_parallel": (140, 140, 140), "diloco": (90, 110, 160)},
        ("70B", "1 Gbit/s"): {"data_parallel": (None, None, None), "diloco": (9000, None, None)},
        ("70B", "100 Gbit/s"): {"data_parallel": (2500, 2500, 2500), "diloco": (1800, 3000, None)},
    }
    cells: list[CellName] = []
    rows: dict[int, list[Row]] = {}
    for (model, rate), methods in found.items():
        for method, hours in methods.items():
            rows[len(cells)] = [dict(zip(ends, hours, strict=True))]
            settings: dict[str, Label] = {"model.name": model, "network.bandwidth": rate}
            cells.append(CellName(len(cells), method, settings))
    return Study(
        scenario="sample",
        seed=1,
        version="0.1.0",
        metric="hours_to_target",
        columns=("model.name", "network.bandwidth"),
        cells=tuple(cells),
        rows=rows,
    )


FIGURES: Mapping[str, Callable[[], Axes]] = {
    "goodput": lambda: plot.goodput(comparison()),
    "goodput_of_several": lambda: plot.goodput(several_histories()),
    "timeline": lambda: plot.timeline(comparison()),
    "exchange": lambda: plot.exchange(merging(), "decoupled_diloco", bins=40),
    "bandwidth": lambda: plot.bandwidth(thin_links(), given=5.0),
    "round_trips": lambda: plot.round_trips(far_apart(), streams=(1, 8)),
    "losses": lambda: plot.losses(far_apart(), streams=8),
    "learning": lambda: plot.learning(losses()),
    "sweep": lambda: plot.sweep(study_of()),
    "heatmap": map_of,
    "tornado": lambda: plot.tornado(uncertain()),
    "beside": two_curves,
    "bars": quality_bars,
    "dots": three_rows,
    "quality": lambda: plot.quality(to_a_loss()),
    "first": lambda: plot.first(contest()),
}
"""Every kind of figure, of values made by hand."""
