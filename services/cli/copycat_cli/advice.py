"""Advice: what the user may type next, after an error or an answer, and names like one that was mistyped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from copycat_rest.answers import ConnectorStateInfo

from copycat_cli.api.connectors import connector_names
from copycat_cli.api.statuses import RUNNING, failed
from copycat_cli.errors import (
    AwaitedError,
    CliError,
    ConnectorFileError,
    ExistsError,
    InvalidConfigError,
    UnknownNameError,
    UnreachableError,
    UntrustedError,
)
from copycat_cli.session import DEFAULT_URL, CommandSession


def similar(name: str, known: Iterable[str], *, closeness: float = 0.5) -> list[str]:
    """Return up to three known names that look like this one, the closest first."""
    by_folded = {each.lower(): each for each in known}
    return [by_folded[match] for match in get_close_matches(name.lower(), by_folded, cutoff=closeness)]


def next_steps(session: CommandSession, status: ConnectorStateInfo) -> list[tuple[str, str]]:
    """Return commands, each with its purpose, for somebody who has seen this status."""
    name, state = status.name, status.connector.state
    if failed(status):
        return [
            (session.command("edit", name), "fix the configuration; what is wrong starts again by itself"),
            (
                session.command("restart", name, options=("--include-tasks", "--only-failed")),
                "or try again as it is",
            ),
        ]
    if state in {"PAUSED", "STOPPED"}:
        return [(session.command("resume", name), "let it run again")]
    if state == RUNNING:
        return [
            (session.command("offsets get", name), "how far it came"),
            (session.command("status", name, options=("--watch",)), "see it work"),
        ]
    return [(session.command("status", name, options=("--wait-for", RUNNING)), "wait until it runs")]


def advice(error: CliError, session: CommandSession, params: Mapping[str, object]) -> list[str]:
    """Return lines that say how to go on; `params` is what the failed command was given."""
    lines: list[str] = []
    match error:
        case UnreachableError():
            lines = _trust() if isinstance(error, UntrustedError) else _reach()
        case UnknownNameError():
            lines = _find(session, _names(params))
        case InvalidConfigError(plugin=""):
            lines = [
                f"{session.command('plugins')}  lists the connector classes there are",
                "copycat plugins add  installs one of your own; Copycat sees it after a restart",
            ]
        case InvalidConfigError(plugin=plugin):
            lines = [f"{session.command('plugins', plugin)}  shows every key, with its default"]
        case ExistsError():
            lines = [f"{session.command('apply', *_files(params))}  makes it what the file says"]
        case ConnectorFileError():
            lines = ["copycat create --help  shows what a connector file looks like"]
        case AwaitedError(connectors=names):
            lines = [f"{session.command('describe', name)}  shows all about it" for name in names]
    return lines


def _reach() -> list[str]:
    return [
        "copycat up  starts a whole system on this machine, if none runs yet",
        f"--url http://HOST:PORT, or COPYCAT_URL, names a cluster elsewhere; the default is {DEFAULT_URL}",
    ]


def _trust() -> list[str]:
    return [
        "--ca FILE, or COPYCAT_CA, names a PEM file with the authority that signed it, or with itself",
        "--url https://HOST:PORT  with a host that it is for",
    ]


def _find(session: CommandSession, wanted: list[str]) -> list[str]:
    try:
        known = connector_names(session.rest)
    except CliError:
        return []  # advice only: the error itself was shown
    missing = [name for name in wanted if name not in known]
    if missing and not known:
        return ["copycat create --help  shows how to make a connector: there are none yet"]
    if missing:
        close = [name for each in missing for name in similar(each, known)]
        listed = [f"{name}  is a connector with a similar name" for name in close]
        return [*listed, f"{session.command('list')}  shows all connectors"]
    return [f"{session.command('describe', name)}  shows what it has" for name in wanted]


def _names(params: Mapping[str, object]) -> list[str]:
    match params.get("connector", params.get("connectors")):
        case str(name):
            return [name]
        case tuple(names):
            return [str(name) for name in names]
        case _:
            return []


def _files(params: Mapping[str, object]) -> list[str]:
    files = params.get("files")
    return [str(file) for file in files] if isinstance(files, tuple) else []
