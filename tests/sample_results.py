"""Results made by hand, for the tests of whatever reads results."""

from collections.abc import Sequence

from ddsim.results import Merge, MethodResult, Results, Span, Wan

HOUR = 3600.0

LOST_AND_BACK = (
    Span("east", 0.0, 2 * HOUR, "running", 512),
    Span("east", 2 * HOUR, 4 * HOUR, "failed_hardware", 0),
    Span("east", 4 * HOUR, 4.25 * HOUR, "restart", 512),
    Span("east", 4.25 * HOUR, 10 * HOUR, "running", 512),
)
GOES_ON = (
    Span("west", 0.0, 6 * HOUR, "running", 512),
    Span("west", 6 * HOUR, 7 * HOUR, "running", 256),
    Span("west", 7 * HOUR, 10 * HOUR, "running", 512),
)
STOPS = (
    Span("west", 0.0, 2 * HOUR, "running", 512),
    Span("west", 2 * HOUR, 4.25 * HOUR, "stranded", 512),
    Span("west", 4.25 * HOUR, 10 * HOUR, "running", 512),
)


def record(
    method: str = "decoupled_diloco",
    goodput: float = 0.9,
    timeline: Sequence[Span] = (),
    **changes: object,
) -> MethodResult:
    """A method's result that closes its accounts; `changes` replace any field."""
    values: dict[str, object] = {
        "time_goodput": 0.95,
        "uptime": 1.0,
        "compute_utilization": 0.97,
        "ettr": 0.94,
        "accounts": {"failed_hardware": 0.75 - 0.75 * goodput, "productive": goodput}
        | {"exposed_communication": 0.25 - 0.25 * goodput},
        "steps": 1000.0,
        "tokens": 1e9 * goodput,
        "tokens_merged": 1e9 * goodput,
        "wall_clock_s": 10 * HOUR,
        "failures": 2.0,
        "wan": Wan(mean_gbps=1.5, peak_gbps=4.0, total_bytes=6.75e12, convention="4 bits, ring"),
        "events": 120.0,
        "elapsed_s": 0.01,
        "timeline": timeline,
    }
    return MethodResult(method=method, goodput=goodput, **(values | changes))  # type: ignore[arg-type]


def comparison(replications: int = 1) -> Results:
    """Two methods through the loss and the return of a unit."""
    merge = Merge(1, (0, 12), 10.0, 11.5, ("east", "west"), weights=(0.1, 0.9))
    return Results(
        scenario="sample",
        seed=7,
        replications=replications,
        duration_s=10 * HOUR,
        version="0.1.0",
        results=[
            record("data_parallel", 0.3, (*LOST_AND_BACK, *STOPS), merged_share=None),
            record(
                "decoupled_diloco",
                0.9,
                (*LOST_AND_BACK, *GOES_ON),
                merged_share=0.98,
                tokens_merged=8.8e8,
                merges=(merge,),
                extra={"late_answers": 3},
            ),
        ],
        resolved="name: sample\n",
    )
