"""The files of a saved result, by name."""

RESULTS = "results.json"
SCENARIO = "scenario.yaml"
ACCOUNTS = "accounts.csv"
TIMELINE = "timeline.csv"
MERGES = "merges.csv.gz"  # tens of MB for a day as it is, one or two packed
TRACE = "trace.json.gz"  # Perfetto opens it packed
TAPE = "tape.jsonl.gz"
ALL = (RESULTS, SCENARIO, ACCOUNTS, TIMELINE, MERGES, TRACE, TAPE)

BETWEEN = "|"
"""What stands within a list in one cell of a table."""
