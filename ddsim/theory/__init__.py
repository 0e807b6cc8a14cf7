"""Closed forms of training goodput and bandwidth, each with its assumptions.

By subject: `checkpointing`, `availability`, `renewal`, `goodput`, `stepping`, `tcp` and
`measured`.
Times are seconds, rates per second, sizes bits. Every function is pure and can be used on its own.
"""

from ddsim.theory import availability, checkpointing, goodput, measured, renewal, stepping, tcp
from ddsim.theory.availability import (
    MachineRepairman,
    all_up_clock_stops,
    all_up_independent,
    k_of_n_availability,
    mean_capacity_fraction,
    nonparalyzable_availability,
    paralyzable_availability,
)
from ddsim.theory.checkpointing import (
    checkpoint_goodput,
    daly_interval,
    ettr_meta,
    expected_lost_time,
    expected_segment_time,
    google_runtime_goodput,
    optimal_interval,
    young_interval,
)
from ddsim.theory.goodput import (
    decoupled_learner_goodput,
    elastic_dp_goodput,
    learners_goodput,
    merge_uptime,
    slowest_of_exponential,
    sync_diloco_round_goodput,
    sync_dp_goodput,
    sync_every_step_goodput,
)
from ddsim.theory.renewal import (
    renewal_function,
    superposed_rate,
    weibull_cdf,
    weibull_first_failure_mean,
    weibull_fresh_failures,
    weibull_scale_for_mean,
)
from ddsim.theory.stepping import (
    data_parallel_utilization,
    decoupled_utilization,
    diloco_utilization,
    ring_factor,
    streaming_utilization,
    streaming_window,
)

__all__ = [
    "MachineRepairman",
    "all_up_clock_stops",
    "all_up_independent",
    "availability",
    "checkpoint_goodput",
    "checkpointing",
    "daly_interval",
    "data_parallel_utilization",
    "decoupled_learner_goodput",
    "decoupled_utilization",
    "diloco_utilization",
    "elastic_dp_goodput",
    "ettr_meta",
    "expected_lost_time",
    "expected_segment_time",
    "goodput",
    "google_runtime_goodput",
    "k_of_n_availability",
    "learners_goodput",
    "mean_capacity_fraction",
    "measured",
    "merge_uptime",
    "nonparalyzable_availability",
    "optimal_interval",
    "paralyzable_availability",
    "renewal",
    "renewal_function",
    "ring_factor",
    "slowest_of_exponential",
    "stepping",
    "streaming_utilization",
    "streaming_window",
    "superposed_rate",
    "sync_diloco_round_goodput",
    "sync_dp_goodput",
    "sync_every_step_goodput",
    "tcp",
    "weibull_cdf",
    "weibull_first_failure_mean",
    "weibull_fresh_failures",
    "weibull_scale_for_mean",
    "young_interval",
]
