"""Reads a cluster over its REST interface, of any of its workers. Nothing is changed."""

from __future__ import annotations

from textwrap import shorten

from copycat_cli.api.offsets import get_offsets
from copycat_cli.api.statuses import UNKNOWN, Expanded, overview
from copycat_cli.errors import CliError, NotFoundError
from copycat_cli.rest import Rest

from copycat_launcher.migrate.found import FoundCluster, FoundConnector, Positions

NO_OFFSETS_HERE = "its Kafka Connect is older than 3.6, whose REST interface does not show offsets"

MOST_CHARACTERS = 200


def read_over_rest(rest: Rest) -> FoundCluster:
    """Return what the workers say.

    Raises:
        CliError: They do not answer, or not as Kafka Connect does.
    """
    found = [_connector(rest, each) for each in overview(rest)]
    return FoundCluster(f"REST interface {rest.shown_url}", tuple(found))


def _connector(rest: Rest, each: Expanded) -> FoundConnector:
    state = each.status.connector.state
    return FoundConnector(
        each.status.name,
        each.info.config,
        "" if state == UNKNOWN else state,
        tuple(task.state for task in each.status.tasks),
        _positions(rest, each.status.name),
    )


def _positions(rest: Rest, name: str) -> Positions:
    try:
        return Positions(len(get_offsets(rest, name).offsets))
    except NotFoundError:
        return Positions(None, NO_OFFSETS_HERE)
    except CliError as error:  # one connector whose offsets cannot be read says nothing about the others
        return Positions(None, shorten(error.message, MOST_CHARACTERS, placeholder=" ..."))
