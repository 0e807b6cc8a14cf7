"""What the benchmarks are measured with."""

pytest_plugins = ["measuring"]
