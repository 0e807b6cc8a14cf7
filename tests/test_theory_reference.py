"""The reference tables that ship with the package."""

import pytest

from ddsim import reference


@pytest.mark.parametrize("name", reference.names())
def test_every_row_names_its_source(name: str) -> None:
    """No figure stands without its origin, and no row is cut short."""
    table = reference.rows(name)
    assert table
    for row in table:
        assert row["source"]
        assert None not in row.values()
        assert None not in row


def test_tables_are_listed() -> None:
    """What the package carries."""
    assert reference.names() == (
        "cloud_regions",
        "cloud_round_trips",
        "decoupled_diloco_reported",
        "decoupled_goodput_table1",
        "diloco_bandwidth_page",
        "eager_updates_bandwidth_table5",
        "goodput_more",
        "large_jobs",
        "llama3_interruptions",
        "losses_streaming_table1",
        "losses_streaming_table5",
        "measured_decoupled_runs",
        "measured_diloco_grid",
        "measured_kill_rejoin",
        "measured_runs",
        "measured_storm_k120",
        "measured_wan_sync",
        "mttf_by_gpus",
        "restart_by_size",
        "scaling_laws",
        "streaming_diloco_bandwidth_table4",
        "streaming_diloco_hours_table1",
        "theory_oracles",
        "wan_streams",
    )


def test_unknown_table_is_refused_with_the_names_there_are() -> None:
    """The message lists what could have been meant."""
    with pytest.raises(KeyError, match="measured_runs"):
        reference.rows("table_of_contents")


def test_numbers_reads_figures() -> None:
    """Columns in the order asked for."""
    row = reference.rows("streaming_diloco_bandwidth_table4")[0]
    assert reference.numbers(row, "gbps_cu50", "layers") == (86.8, 24.0)
