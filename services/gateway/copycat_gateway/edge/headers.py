"""Headers the operator wants on every response (`response.http.headers.config`)."""

from __future__ import annotations

import csv
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from email.utils import formatdate
from typing import Final

from copycat_connect.errors import ConfigError
from litestar.types import ASGIApp, Message, Receive, Scope, Send

RULE: Final = re.compile(
    r"(?P<action>set|add|setDate|addDate)\s+(?P<name>[!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*:\s*(?P<value>.*)"
)
DATES: Final = frozenset({"setDate", "addDate"})
Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class HeaderRule:
    """One header of every response."""

    name: str
    """Header name."""
    value: str
    """Text; for a date, milliseconds from now."""
    replaces: bool
    """Takes the place of a header of that name."""
    is_date: bool
    """The value is a distance in time."""

    def text(self) -> str:
        """Return the header's value now."""
        return formatdate(time.time() + int(self.value) / 1000, usegmt=True) if self.is_date else self.value


def header_rules(key: str, text: str) -> Sequence[HeaderRule]:
    """Read the rules: comma separated `action name:value`; one with a comma in it stands in double quotes.

    Raises:
        ConfigError: A rule has another shape.
    """
    parts = next(csv.reader([text], skipinitialspace=True), [])
    return tuple(_rule(key, part.strip()) for part in parts if part.strip())


def _rule(key: str, text: str) -> HeaderRule:
    match = RULE.fullmatch(text)
    if match is None or (match["action"] in DATES and not match["value"].strip().isdigit()):
        raise ConfigError(
            f"{key} has '{text}': write `action name:value` with the action set, add, setDate or addDate;"
            " the value of a date is milliseconds from now",
            key=key,
        )
    action = match["action"]
    return HeaderRule(match["name"], match["value"].strip(), action.startswith("set"), action in DATES)


class ResponseHeaders:
    """Adds the operator's headers to every response."""

    def __init__(self, app: ASGIApp, rules: Sequence[HeaderRule]) -> None:
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the request and add the headers to its answer."""

        async def adding(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = self._applied(list(message.get("headers", [])))
            await send(message)

        await self._app(scope, receive, adding)

    def _applied(self, headers: Headers) -> Headers:
        for rule in self._rules:
            name = rule.name.encode("ascii").lower()
            if rule.replaces:
                headers = [header for header in headers if header[0].lower() != name]
            headers.append((name, rule.text().encode("latin-1", "replace")))
        return headers
