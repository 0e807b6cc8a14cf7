"""The files of a saved result, by name."""

RESULTS = "results.json"
SCENARIO = "scenario.yaml"
GIVEN = "given.yaml"  # the scenario as it was written, with its comments
ACCOUNTS = "accounts.csv"
TIMELINE = "timeline.csv"
MERGES = "merges.csv.gz"  # tens of MB for a day as it is, one or two packed
TRACE = "trace.json.gz"  # Perfetto opens it packed
TAPE = "tape.jsonl.gz"
ALL = (RESULTS, SCENARIO, GIVEN, ACCOUNTS, TIMELINE, MERGES, TRACE, TAPE)

RUN_LOGS = "run_log_*.jsonl"
"""One for each method, of its first replication, where they were asked for."""


def run_log(method: str) -> str:
    """The file of a method's run log."""
    return RUN_LOGS.replace("*", method)


BETWEEN = "|"
"""What stands within a list in one cell of a table."""
