"""`ddsim check`: is the scenario right, and what does it say in full?"""

import click

from ddsim.cli import options
from ddsim.cli.base import talk, talk_options

EXAMPLE = """Example:

\b
  ddsim check my_run.yaml
  ddsim check my_run.yaml --resolved
  ddsim check --schema > ddsim.schema.json
"""


@click.command(name="check", short_help="Validate a scenario.", epilog=EXAMPLE)
@click.argument("scenario", required=False)
@options.overrides
@click.option("--resolved", is_flag=True, help="Print the scenario with all defaults filled in.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of scenarios, for editors.")
@talk_options
def command(scenario: str | None, overrides: tuple[str, ...], resolved: bool, schema: bool) -> None:
    """Validate a scenario; every error is named at once, with its place.

    SCENARIO is a YAML file or the name of a shipped scenario. Python files that it names are read
    for what they register, and not run.
    """
    from ddsim.loading import look_through

    if schema:
        if scenario is not None or overrides or resolved:
            raise click.UsageError(
                "--schema is the same for all: without SCENARIO and other options"
            )
        from ddsim.cli.documents import print_json
        from ddsim.scenario import schema_json

        print_json(schema_json())
        return
    if scenario is None:
        raise click.UsageError("name a scenario to check, or give --schema")
    from ddsim.remarks import remarks, saves_in_use

    world = look_through(scenario, overrides)
    for said in remarks(world):
        talk().say(said)
    if resolved:
        for said in saves_in_use(world):
            click.echo(f"# {said}")
        click.echo(world.resolved(), nl=False)
    else:
        click.echo(f"{scenario}: valid")
