"""The ways of training, one file each, chosen by name."""

from ddsim.methods.registry import Method, get, method, names

# Imported for their registration; results stand in this order.
from ddsim.methods import data_parallel  # noqa: F401  isort: skip
from ddsim.methods import elastic_data_parallel  # noqa: F401  isort: skip
from ddsim.methods import diloco  # noqa: F401  isort: skip
from ddsim.methods import streaming_diloco  # noqa: F401  isort: skip
from ddsim.methods import decoupled_diloco  # noqa: F401  isort: skip
from ddsim.methods import async_local_sgd  # noqa: F401  isort: skip

__all__ = ["Method", "get", "method", "names"]
