"""A Connect cluster in memory: enough of the REST interface for the command line, behind a real port."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from werkzeug import Request, Response
from werkzeug.datastructures import MultiDict
from werkzeug.exceptions import NotFound
from werkzeug.routing import Map, Rule

FILE_SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"
PLUGINS = [
    {"class": "org.apache.kafka.connect.file.FileStreamSinkConnector", "type": "sink", "version": "4.4.0"},
    {"class": FILE_SOURCE, "type": "source", "version": "4.4.0"},
]
CAST = "org.apache.kafka.connect.transforms.Cast$Value"
STEPS = [{"class": CAST, "type": "transformation", "version": "4.4.0"}]
KEYS = {"name": True, "connector.class": True, "topic": True, "file": False, "pin": False, "tasks.max": False}
RestAnswer = tuple[int, Any]
ROUTES = Map(
    [
        Rule(path, endpoint=endpoint, methods=methods)
        for path, endpoint, methods in (
            ("/connectors", "connectors", ["GET"]),
            ("/connectors", "create", ["POST"]),
            ("/connectors/<name>", "connector", ["GET"]),
            ("/connectors/<name>", "delete", ["DELETE"]),
            ("/connectors/<name>/config", "config", ["PUT"]),
            ("/connectors/<name>/status", "status", ["GET"]),
            ("/connectors/<name>/<any(pause, resume, stop):order>", "order", ["PUT"]),
            ("/connectors/<name>/restart", "restart", ["POST"]),
            ("/connectors/<name>/tasks/<task>/restart", "restart", ["POST"]),
            ("/connectors/<name>/topics", "topics", ["GET"]),
            ("/connectors/<name>/topics/reset", "reset_topics", ["PUT"]),
            ("/connectors/<name>/offsets", "offsets", ["GET", "PATCH", "DELETE"]),
            ("/connectors/<name>/offsets/undo", "undo", ["GET", "POST"]),
            ("/connector-plugins", "plugins", ["GET"]),
            ("/connector-plugins/unloadable", "unloadable", ["GET"]),
            ("/connector-plugins/<plugin>/config", "keys", ["GET"]),
            ("/connector-plugins/<plugin>/config/validate", "validate", ["PUT"]),
            ("/workers", "workers", ["GET"]),
            ("/admin/loggers", "loggers", ["GET"]),
            ("/admin/loggers/<logger>", "logger", ["GET"]),
            ("/admin/loggers/<logger>", "level", ["PUT"]),
        )
    ]
)


@dataclass
class Known:
    """One connector and what its instances do."""

    config: dict[str, str]
    state: str = "RUNNING"
    tasks: list[str] = field(default_factory=lambda: ["RUNNING"])
    trace: str = ""
    hangs: str = ""
    """Why its tasks do not move; adds what Copycat says beside Kafka Connect's fields."""
    topics: list[str] = field(default_factory=list)
    offsets: list[Any] = field(default_factory=list)

    def status(self, name: str) -> dict[str, Any]:
        tasks = [self._instance(state) | {"id": number} for number, state in enumerate(self.tasks)]
        told = {"name": name, "connector": self._instance(self.state), "tasks": tasks, "type": "source"}
        if not self.hangs:
            return told
        for task in tasks:
            task |= {"since": "2026-01-02T03:04:05.678Z", "generation": 7, "reason": self.hangs}
        reason = f"1 of 1 tasks not moving: task 0: {self.hangs}"
        return told | {"health": {"state": "degraded", "reason": reason}}

    def _instance(self, state: str) -> dict[str, Any]:
        trace = {"trace": self.trace} if state == "FAILED" else {}
        return {"state": state, "worker_id": "w:1", **trace}


@dataclass(frozen=True)
class Asked:
    """One request; the path as it was sent."""

    method: str
    path: str
    query: MultiDict[str, str]
    body: Any


class FakeConnect:
    """Answers requests and keeps those that change something."""

    def __init__(self) -> None:
        self.connectors: dict[str, Known] = {}
        self.loggers = {"root": {"level": "INFO", "last_modified": None}}
        self.workers: list[Any] | None = [
            {
                "worker_id": "w:1",
                "leaving": False,
                "held": [{"connector": "lines", "task": 0, "generation": 3}],
            }
        ]
        self.refusal: RestAnswer | None = None
        """Given instead of any other answer."""
        self.broken: list[Any] | None = None
        """The plugins that cannot be loaded; None where Kafka Connect answers, which has no such resource."""
        self.begins_as = "RUNNING"
        """The state of a connector that is created."""
        self.after_look: Callable[[Known], None] = lambda _: None
        """Called after each look at a status: the world moves on."""
        self.changes: list[tuple[str, str, Any]] = []
        self.foretold: list[Any] | None = None
        """The effects that every dry run shows; None where Kafka Connect answers, which has none."""
        self.dry_runs: list[Asked] = []

    def __call__(self, request: Request) -> Response:
        """Answer a request."""
        body = json.loads(request.data) if request.data else None
        raw = request.environ["REQUEST_URI"].partition("?")[0]
        dry = self.foretold is not None and request.args.get("dry_run") == "true"
        if request.method != "GET" and not raw.endswith("/validate") and not dry:
            self.changes.append((request.method, raw, body))
        status, tree = self.refusal or self._answer(Asked(request.method, raw, request.args, body))
        return Response("" if tree is None else json.dumps(tree), status, content_type="application/json")

    def add(self, name: str = "lines", **known: Any) -> Known:
        """Add a connector that runs."""
        config = {"name": name, "connector.class": "FileStreamSource", "topic": "lines", "file": "/in.txt"}
        self.connectors[name] = Known(**{"config": config, **known})
        return self.connectors[name]

    def _answer(self, asked: Asked) -> RestAnswer:
        routes = ROUTES.bind("")
        try:
            route, names = routes.match(asked.path, asked.method)
        except NotFound:
            return problem(404, "HTTP 404 Not Found")
        arguments = {key: unquote(value) for key, value in names.items()}
        if "name" in arguments and route != "config":
            if arguments["name"] not in self.connectors:
                return problem(404, f"Connector {arguments['name']} not found")
            return self._route(route)(asked, self.connectors[arguments["name"]], **arguments)
        return self._route(route)(asked, **arguments)

    def _route(self, name: str) -> Callable[..., RestAnswer]:
        answer: Callable[..., RestAnswer] = getattr(self, f"_{name}")
        return answer

    def _connectors(self, asked: Asked) -> RestAnswer:
        if asked.query.getlist("expand"):
            each = self.connectors.items()
            return 200, {
                name: {"status": known.status(name), "info": self._info(name)} for name, known in each
            }
        return 200, list(self.connectors)

    def _create(self, asked: Asked) -> RestAnswer:
        name = asked.body["name"]
        if name in self.connectors:
            return problem(409, f"Connector {name} already exists")
        self.add(name, config=asked.body["config"], state=self.begins_as)
        return 201, self._info(name)

    def _config(self, asked: Asked, name: str) -> RestAnswer:
        self.add(name, config=asked.body)
        return 200, self._info(name)

    def _connector(self, _: Asked, __: Known, name: str) -> RestAnswer:
        return 200, self._info(name)

    def _delete(self, _: Asked, __: Known, name: str) -> RestAnswer:
        del self.connectors[name]
        return 204, None

    def _status(self, _: Asked, known: Known, name: str) -> RestAnswer:
        status = known.status(name)
        self.after_look(known)
        return 200, status

    def _order(self, _: Asked, known: Known, name: str, order: str) -> RestAnswer:
        known.state = {"pause": "PAUSED", "resume": "RUNNING", "stop": "STOPPED"}[order]
        return 202, None

    def _restart(self, asked: Asked, known: Known, name: str, task: str = "") -> RestAnswer:
        if not asked.query:
            return 204, None
        status = known.status(name)
        return 202, status | {"tasks": [each | {"state": "RESTARTING"} for each in status["tasks"]]}

    def _topics(self, _: Asked, known: Known, name: str) -> RestAnswer:
        return 200, {name: {"topics": known.topics}}

    def _reset_topics(self, _: Asked, known: Known, name: str) -> RestAnswer:
        known.topics = []
        return 202, None

    def _offsets(self, asked: Asked, known: Known, name: str) -> RestAnswer:
        if asked.method == "GET":
            return 200, {"offsets": known.offsets}
        if self.foretold is not None and asked.query.get("dry_run") == "true":
            return self._dry(asked, known)
        if known.state != "STOPPED":
            return problem(400, "Connectors must be in the STOPPED state")
        known.offsets = asked.body["offsets"] if asked.body else []
        return 200, {"message": "The offsets for this connector have been modified"}

    def _undo(self, asked: Asked, known: Known, name: str) -> RestAnswer:
        if self.foretold is None:
            return problem(404, "HTTP 404 Not Found")
        if asked.method == "GET":
            return 200, {"change": None}
        if asked.query.get("dry_run") == "true":
            return self._dry(asked, known)
        return 200, {**self._dry(asked, known)[1], "dry_run": False, "message": "taken back"}

    def _dry(self, asked: Asked, known: Known) -> RestAnswer:
        self.dry_runs.append(asked)
        return 200, {
            "dry_run": True,
            "message": "Nothing was changed: this was a dry run",
            "time": "2026-11-20T10:00:00.000Z" if {"to", "rewind"} & set(asked.query) else None,
            "notes": ["It is at most so much"] if known.state == "STOPPED" else ["It is not stopped"],
            "offsets": self.foretold,
        }

    def _plugins(self, asked: Asked) -> RestAnswer:
        return 200, PLUGINS if asked.query["connectorsOnly"] == "true" else [*PLUGINS, *STEPS]

    def _unloadable(self, _: Asked) -> RestAnswer:
        return problem(404, "HTTP 404 Not Found") if self.broken is None else (200, self.broken)

    def _keys(self, _: Asked, plugin: str) -> RestAnswer:
        known = "FileStreamSource" in plugin
        return (200, [key(name) for name in KEYS]) if known else problem(404, f"Unknown plugin {plugin}.")

    def _validate(self, asked: Asked, plugin: str) -> RestAnswer:
        return 200, validation(asked.body)

    def _workers(self, _: Asked) -> RestAnswer:
        return problem(404, "HTTP 404 Not Found") if self.workers is None else (200, self.workers)

    def _loggers(self, _: Asked) -> RestAnswer:
        return 200, self.loggers

    def _logger(self, _: Asked, logger: str) -> RestAnswer:
        known = logger in self.loggers
        return (200, self.loggers[logger]) if known else problem(404, f"Logger {logger} not found.")

    def _level(self, asked: Asked, logger: str) -> RestAnswer:
        return (204, None) if asked.query["scope"] == "cluster" else (200, [logger, f"{logger}.child"])

    def _info(self, name: str) -> dict[str, Any]:
        known = self.connectors[name]
        tasks = [{"connector": name, "task": number} for number in range(len(known.tasks))]
        return {"name": name, "config": known.config, "tasks": tasks, "type": "source"}


def problem(status: int, message: str) -> RestAnswer:
    return status, {"error_code": status, "message": message}


def key(name: str) -> dict[str, Any]:
    kind = "PASSWORD" if name == "pin" else "STRING"
    return {
        "name": name,
        "type": kind,
        "required": KEYS.get(name, False),
        "importance": "HIGH",
        "default_value": None,
        "documentation": f"What {name} is, e.g. this ... such. And more.",
        "group": None,
        "width": "NONE",
        "display_name": name,
        "dependents": [],
        "order_in_group": -1,
    }


def validation(config: dict[str, str]) -> dict[str, Any]:
    entries: list[dict[str, Any]] = []
    for name in {**dict.fromkeys(KEYS), **config}:
        errors = (
            [f'Missing required configuration "{name}".'] if KEYS.get(name) and name not in config else []
        )
        if name == "tasks.max" and not re.fullmatch(r"\d+", config.get(name, "1")):
            errors = [f"Invalid value {config[name]} for configuration tasks.max: Not a number of type INT"]
        value = {"name": name, "value": config.get(name), "errors": errors, "recommended_values": []}
        entries.append(
            {"definition": key(name) if name in KEYS else None, "value": {**value, "visible": True}}
        )
    count = sum(len(entry["value"]["errors"]) for entry in entries)
    return {"name": config["connector.class"], "error_count": count, "groups": [], "configs": entries}
