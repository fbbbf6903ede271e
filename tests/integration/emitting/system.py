"""Emitters on a whole system, driven over REST."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from copycat_testkit.kafka import consume_all, unique, wait_until

from tests.integration.emitting.bench import AUTHOR
from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.rest import PATIENCE, Rest

TEXT = "org.apache.kafka.connect.storage.StringConverter"


class System:
    """One system of one worker, its emitters and what it recorded."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster = cluster
        self.folder = folder

    @property
    def rest(self) -> Rest:
        """The REST interface."""
        return self.cluster.rest

    def emit(self, name: str, *records: str, task: int = 0) -> None:
        """Have a task of an emitter emit records, each a topic, a blank and a value; or a topic only."""
        with (self.folder / f"{name}-{task}").open("a") as out:
            out.writelines(f"{record} v\n" if " " not in record else f"{record}\n" for record in records)

    def emitter(self, name: str = "", *records: str, **config: str) -> str:
        """Create an emitter, `a__b` in keys stands for `a.b`; returns its name."""
        name = name or unique("emitter")
        self.emit(name, *records)
        self.rest.create(name, self.emitter_config(name, **config))
        return name

    def emitter_config(self, name: str, **config: str) -> dict[str, str]:
        """Return the configuration of an emitter."""
        more = {"tasks.max": "1"} | {key.replace("__", "."): value for key, value in config.items()}
        files = ",".join(str(self.folder / f"{name}-{task}") for task in range(int(more["tasks.max"])))
        own = {"connector.class": "author.Emitter", "emit.files": files}
        return {**own, "key.converter": TEXT, "value.converter": TEXT, **more}

    def sink(self, name: str, **config: str) -> str:
        """Create a sink that writes lines into a file of its name; returns its name."""
        own = {"connector.class": "FileStreamSink", "file": str(self.folder / f"{name}.out")}
        more = {key.replace("__", "."): value for key, value in config.items()}
        self.rest.configure(name, {**own, "key.converter": TEXT, "value.converter": TEXT, **more})
        return name

    def topics(self, name: str) -> set[str]:
        """Return a connector's active topics."""
        found: dict[str, Any] = self.rest.get(f"/connectors/{name}/topics")
        return set(found[name]["topics"])

    def has_topics(self, name: str, *topics: str) -> None:
        """Wait until a connector's active topics are these."""
        wait_until(lambda: self.topics(name) == set(topics), PATIENCE, f"{name} uses {topics}")

    def statuses(self) -> list[tuple[str, bytes | None]]:
        """Return keys and values of the status topic, by partition."""
        read = consume_all(self.cluster.bootstrap, self.cluster.topic("status"))
        return [((message.key() or b"").decode(), message.value()) for message in read]

    def records_of(self, topic: str, connector: str) -> list[Any]:
        """Return what was recorded of a connector's use of a topic, oldest first; None is a tombstone."""
        key = f"status-topic-{topic}:connector-{connector}"
        return [
            None if value is None else json.loads(value) for each, value in self.statuses() if each == key
        ]


def reset(rest: Rest, name: str) -> tuple[int, bytes]:
    """Have a connector's active topics forgotten; returns status and body of the answer."""
    reply = rest.call("PUT", f"/connectors/{name}/topics/reset")
    return reply.status_code, reply.content


@contextmanager
def system(
    bootstrap: str, folder: Path, settings: Mapping[str, str] | None = None, **environment: str
) -> Iterator[System]:
    """Run a system with these worker properties and environment variables."""
    environment["PYTHONPATH"] = str(AUTHOR)
    with Cluster(bootstrap, folder / "data", 1, settings or {}, environment).running() as cluster:
        yield System(cluster, folder)
