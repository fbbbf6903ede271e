"""Reference pages that are made from the code: worker keys, commands, REST, error codes."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping

import click
from copycat_connect.config import ConfigKey
from copycat_connect.plugin.page import key_table
from copycat_gateway.app import ADMIN, REST
from copycat_gateway.edge.openapi.document import openapi_config
from copycat_launcher.main import copycat, copycat_worker
from copycat_launcher.misspelt import DECLARING, declared_keys
from litestar import Litestar
from litestar.di import Provide

from tools.docs_site.gathering import ROOT, tracked

RUNBOOK = ROOT / "deploy/monitoring/RUNBOOK.md"
CODE = re.compile(r'ErrorCode\(\s*"([\w.]+)",\s*grpc="(\w+)",\s*http=(\d+)')
ROW = re.compile(r"^\| `([\w.]+)` \| (.*?) \| (.*?) \|$", re.MULTILINE)
#: What the handlers of the gateway are given and no request carries.
GIVEN = ("services", "settings", "loggers", "scrape", "health", "access")
CODE_TABLE = ("| code | means | do | gRPC | HTTP |", "| --- | --- | --- | --- | --- |")
METHODS = ("get", "post", "put", "patch", "delete")


def reference_pages() -> Mapping[str, str]:
    """Return each page with its path."""
    pages = {
        "worker-keys": _worker_keys(),
        "command-line": _command_line(),
        "rest": _rest(),
        "error-codes": _error_codes(),
    }
    return {f"reference/{name}.md": "\n".join(lines) + "\n" for name, lines in pages.items()}


def _worker_keys() -> Iterator[str]:
    found: dict[str, ConfigKey] = {}
    for module in DECLARING:
        for key in declared_keys(vars(importlib.import_module(module)).values()):
            found.setdefault(key.name, key)
    yield "# Keys of the worker properties"
    yield ""
    yield (
        "All that the services declare. Besides them: `producer.*`, `consumer.*` and `admin.*` for Kafka's"
        " clients, `security.*`, `sasl.*` and `ssl.*` for the connection to Kafka, `config.providers*`,"
        " `spark.*`, and what follows `config.storage.`, `offset.storage.`, `status.storage.` and"
        " `assignment.storage.` for the topics."
    )
    yield ""
    yield from key_table(found[name] for name in sorted(found))


def _command_line() -> Iterator[str]:
    yield "# The command line"
    for name, command in (("copycat", copycat), ("copycat-worker", copycat_worker)):
        yield from _command(command, click.Context(command, info_name=name))


def _command(command: click.Command, context: click.Context) -> Iterator[str]:
    context.max_content_width = 100
    yield from ("", f"## {context.command_path}", "", "```text", command.get_help(context), "```")
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None:
                yield from _command(below, click.Context(below, info_name=name, parent=context))


def _rest() -> Iterator[str]:
    given = {name: Provide(lambda: None, sync_to_thread=False) for name in GIVEN}
    described = openapi_config("1")
    app = Litestar([*REST, *ADMIN], dependencies=given, openapi_config=described, logging_config=None)
    document = app.openapi_schema.to_schema()
    yield "# The REST interface"
    yield ""
    yield f"{document['info']['description']} A gateway serves the whole document at `/openapi/openapi.json`."
    for path, item in sorted(document["paths"].items()):
        yield from ("", f"## {path}", "", "| method | does | answers |", "| --- | --- | --- |")
        for method in METHODS:
            if method in item:
                answers = ", ".join(sorted(item[method]["responses"]))
                yield f"| `{method.upper()}` | {_cell(_does(item[method]))} | {answers} |"


def _does(operation: Mapping[str, str]) -> str:
    return operation.get("description") or operation.get("summary", "")


def _error_codes() -> Iterator[str]:
    sources = (ROOT / name for name in tracked("libs/*.py", "services/*.py"))
    texts = [source.read_text("utf-8") for source in sources]
    found = {code: status for text in texts for code, *status in CODE.findall(text)}
    advice = {code: cells for code, *cells in ROW.findall(RUNBOOK.read_text("utf-8"))}
    yield "# Troubleshooting by error code"
    yield ""
    yield (
        "The code of an error stands in logs (`code`), and in gRPC's trailing metadata (`copycat-error`)."
        " What an alert means is told in the [runbook](../deploy/monitoring/RUNBOOK.md)."
    )
    subject = ""
    for code in sorted(found):
        if code.partition(".")[0] != subject:
            subject = code.partition(".")[0]
            yield from ("", f"## {subject}", "", *CODE_TABLE)
        means, do = advice[code]
        grpc, http = found[code]
        yield f"| `{code}` | {means} | {do} | {grpc} | {http} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
