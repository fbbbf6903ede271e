"""Submit the connectors of a standalone worker or an application over REST and see that they start."""

from __future__ import annotations

import asyncio
import ssl

from copycat_cli.api.statuses import FAILED, UNKNOWN, get_status
from copycat_cli.configuration import apply
from copycat_cli.connector_files import ConnectorFile
from copycat_cli.errors import CliError, ExistsError
from copycat_cli.rest import Rest

from copycat_launcher.errors import ConnectorStartError
from copycat_launcher.own_user import own_user

START_SECONDS = 60.0
POLL_SECONDS = 0.1
UNSETTLED = (UNKNOWN, "UNASSIGNED", "RESTARTING")


async def submit(url: str, file: ConnectorFile, tls: ssl.SSLContext | None = None) -> None:
    """Create the connector, or change the one of this name, and wait until it has started.

    Raises:
        ConnectorStartError: It was refused, or failed to start.
    """
    rest = Rest(url, tls=tls, user=own_user())
    what = f"{file.shown}: connector {file.name}"
    try:
        await asyncio.to_thread(_applied, rest, file)
        await _started(rest, file.name, what)
    except CliError as error:
        raise ConnectorStartError(f"{what} was refused: {error.message}") from error
    finally:
        rest.close()


def _applied(rest: Rest, file: ConnectorFile) -> None:
    try:
        apply(rest, file)
    except ExistsError:  # another copy of the application was quicker
        apply(rest, file)


async def _started(rest: Rest, name: str, what: str) -> None:
    deadline = asyncio.get_running_loop().time() + START_SECONDS
    while asyncio.get_running_loop().time() < deadline:
        connector = (await asyncio.to_thread(get_status, rest, name)).connector
        if connector.state == FAILED:
            raise ConnectorStartError(f"{what} failed to start: {connector.reason or '(no trace)'}")
        if connector.state not in UNSETTLED:
            return
        await asyncio.sleep(POLL_SECONDS)
    raise ConnectorStartError(f"{what} did not start within {START_SECONDS:.0f} s")
