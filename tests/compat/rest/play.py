"""Plays the script against one system and keeps its answers; the two systems that it is played against."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import httpx2
from confluent_kafka.admin import AdminClient
from copycat_testkit.connect_peer import ConnectPeer
from copycat_testkit.system import CopycatUp, names

from tests.compat.rest.step import JSON, NOTHING, Answer, Step

PATIENCE: Final = 60.0
SETTLING: Final = 5.0
#: What Apache Kafka Connect answers while it rebalances; the call is repeated, but not for ever.
REBALANCING: Final = ("rebalance", "stale configuration")
#: What it answers when it could not read its own topic within three seconds; no step wants that.
OVERLOADED: Final = "Failed to read to end of config topic"
POLL_SECONDS: Final = 0.1
LINES: Final = "".join(f"line {number}\n" for number in range(100))
#: Fields whose value is a matter of the moment or of the machine; a missing or null one stays as it is.
REPLACED: Final = frozenset({"worker_id", "trace", "last_modified"})
#: Where plugins are proposed, those that Kafka's distribution does not bring stand beside its own.
OWN_PLUGINS: Final = ("copycat_plugins.", "io.confluent.connect.", "org.apache.kafka.connect.tools.")
#: Where a plugin lies on a machine, in what Kafka Connect prints of it.
LOCATION: Final = re.compile(r"location='[^']*'")
SHOWN_MAP: Final = re.compile(r"\{([^{}]*=[^{}]*)\}")
COMPARED_HEADERS: Final = ("content-type", "location", "allow", "www-authenticate")


@dataclass(frozen=True, slots=True)
class System:
    """One system under the script."""

    url: str
    id: str
    """Begins its connectors' names and its topics' names."""
    group: str
    """Of its worker."""
    folder: Path
    """Where its connectors read and write."""
    cluster: str
    """The id of its Kafka cluster."""

    def filled(self, text: str) -> str:
        """Return text with the placeholders replaced."""
        for name, value in self._placeholders():
            text = text.replace(name, value)
        return text

    def emptied(self, text: str) -> str:
        """Return text with the placeholders back in."""
        for name, value in self._placeholders():
            text = text.replace(value, name)
        return text

    def _placeholders(self) -> tuple[tuple[str, str], ...]:
        return (
            ("$dir", str(self.folder)),
            ("$url", self.url),
            ("$id", self.id),
            ("$group", self.group),
            ("$cluster", self.cluster),
        )


def play(system: System, steps: Iterable[Step]) -> dict[str, Answer]:
    """Send every step in turn; returns the last answer to each, normalised, by its name."""
    system.folder.mkdir(parents=True, exist_ok=True)
    (system.folder / "lines.txt").write_text(LINES)
    # Jetty closes a connection on which it refused a body, now and then only after the next request came.
    fresh = httpx2.Limits(max_keepalive_connections=0)
    with httpx2.Client(base_url=system.url, timeout=90, limits=fresh) as rest:
        return {step.name: _answer(system, step, rest) for step in steps}


def _answer(system: System, step: Step, rest: httpx2.Client) -> Answer:
    began, held = time.monotonic(), 0
    while True:
        answer = _send(system, step, rest)
        waited = time.monotonic() - began
        settled = waited > _passing(answer)
        held = held + 1 if step.until is None or step.until(answer) else 0
        reached = held >= step.steady
        if settled and (reached or waited > PATIENCE):
            return replace(answer, reached=reached)
        time.sleep(POLL_SECONDS)


def _passing(answer: Answer) -> float:
    """Return for how long a step is repeated that is answered like this."""
    if answer.status not in (409, 500):
        return -1
    if OVERLOADED in str(answer.body):
        return PATIENCE
    return SETTLING if any(sign in str(answer.body) for sign in REBALANCING) else -1


def _send(system: System, step: Step, rest: httpx2.Client) -> Answer:
    content, headers = None, dict(step.headers)
    if step.body is not NOTHING:
        raw = step.body if isinstance(step.body, bytes) else json.dumps(step.body).encode()
        content = system.filled(raw.decode()).encode()
        headers = {"Content-Type": JSON, **headers}
    reply = rest.request(
        step.method,
        system.filled(step.path),
        content=content,
        headers={name: value for name, value in headers.items() if value},
    )
    shown = {name: reply.headers[name] for name in COMPARED_HEADERS if name in reply.headers}
    if "allow" in shown:
        shown["allow"] = ", ".join(sorted(shown["allow"].replace(" ", "").split(",")))
    if "content-type" in shown:
        shown["content-type"] = shown["content-type"].partition(";")[0]  # a charset changes nothing for JSON
    text = system.emptied(reply.text)
    body = _normalised(_parsed(text))
    if step.select is not None and reply.is_success:
        body = step.select(body)
    return Answer(reply.status_code, {name: system.emptied(value) for name, value in shown.items()}, body)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text


def _normalised(value: Any, key: str = "") -> Any:
    """Return a body that can be compared: without what differs in any case, and what has no order sorted."""
    match value:
        case str() | float() | int() if key in REPLACED:
            return f"<{key}>"
        case str() if key == "documentation":
            # Whether texts are the same is compared, not how: what is recorded holds none of Kafka's.
            return f"<{hashlib.sha256(value.encode()).hexdigest()[:16]}>"
        case str():
            return SHOWN_MAP.sub(_sorted_map, LOCATION.sub("location='<location>'", value))
        case dict():
            return {name: _normalised(item, name) for name, item in value.items()}
        case list():
            items = [_normalised(item) for item in value if not _is_own_plugin(item)]
            return sorted(items, key=repr) if _has_no_order(items) else items
        case _:
            return value


def _is_own_plugin(item: Any) -> bool:
    return isinstance(item, str) and item.startswith(OWN_PLUGINS)


def _has_no_order(items: list[Any]) -> bool:
    texts = all(isinstance(item, str) for item in items)
    offsets = all(isinstance(item, dict) and item.keys() == {"partition", "offset"} for item in items)
    return texts or offsets


def _sorted_map(shown: re.Match[str]) -> str:
    return "{" + ", ".join(sorted(shown[1].split(", "))) + "}"


THEIR_GROUP: Final = "their-workers"
OUR_GROUP: Final = "our-workers"
#: Worker properties of both.
PROPERTIES: Final = {
    "offset.flush.interval.ms": "1000",
    "config.providers": "env",
    "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
}
CLUSTER_SECONDS: Final = 60.0


@contextmanager
def kafka_connect(bootstrap: str, folder: Path) -> Iterator[System]:
    """Run Apache Kafka Connect."""
    worker = ConnectPeer(
        bootstrap,
        folder / "connect",
        group=THEIR_GROUP,
        properties=PROPERTIES,
        jars=("connect", "mirror"),
    )
    with worker:
        yield System(worker.url, "by-theirs", THEIR_GROUP, folder / "their-files", _cluster_id(bootstrap))


@contextmanager
def copycat(bootstrap: str, folder: Path) -> Iterator[System]:
    """Run Copycat."""
    settings = {**names(OUR_GROUP), **PROPERTIES}
    with CopycatUp(folder / "copycat", bootstrap, settings=settings) as up:
        yield System(up.url, "by-ours", OUR_GROUP, folder / "our-files", _cluster_id(bootstrap))


def _cluster_id(bootstrap: str) -> str:
    metadata: Any = AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=CLUSTER_SECONDS)
    return str(metadata.cluster_id)
