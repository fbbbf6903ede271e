"""Paths, methods and media types that are refused, and the admin's loggers."""

from __future__ import annotations

from tests.compat.rest.step import Step, delete, get, post, put, source

WRONG_METHODS = (
    ("DELETE", "/"),
    ("POST", "/"),
    ("PUT", "/connectors"),
    ("DELETE", "/connectors"),
    ("PATCH", "/connectors"),
    ("POST", "/connectors/$id-none"),
    ("PUT", "/connectors/$id-none"),
    ("POST", "/connectors/$id-none/config"),
    ("DELETE", "/connectors/$id-none/config"),
    ("PUT", "/connectors/$id-none/status"),
    ("GET", "/connectors/$id-none/pause"),
    ("POST", "/connectors/$id-none/stop"),
    ("GET", "/connectors/$id-none/restart"),
    ("DELETE", "/connectors/$id-none/tasks"),
    ("GET", "/connectors/$id-none/tasks/0/restart"),
    ("GET", "/connectors/$id-none/topics/reset"),
    ("PUT", "/connectors/$id-none/offsets"),
    ("POST", "/connector-plugins"),
    ("GET", "/connector-plugins/FileStreamSource/config/validate"),
    ("POST", "/connector-plugins/FileStreamSource/config/validate"),
    ("POST", "/admin/loggers"),
    ("DELETE", "/admin/loggers/root"),
)
UNKNOWN_PATHS = (
    "/nothing",
    "/connectors/$id-none/nothing",
    "/connectors/$id-none/tasks/0",
    "/connectors/$id-none/tasks/0/nothing",
    "/connector-plugins/FileStreamSource",
    "/admin",
    "/admin/nothing",
    "/connectors/",
    "/connectors//status",
    "/connectors/$id%2Fnone",
    "/connectors/$id%25none",
)


def typed(name: str, content_type: str, method: str = "POST", path: str = "/connectors") -> Step:
    return Step(name, method, path, {"name": "", "config": source()}, {"Content-Type": content_type})


def accepting(name: str, accept: str) -> Step:
    return Step(name, "GET", "/connectors/$id-none", headers={"Accept": accept})


REFUSED = (
    *(Step(f"{method} {path}", method, path) for method, path in WRONG_METHODS),
    *(get(f"GET {path}", path) for path in UNKNOWN_PATHS),
    Step("HEAD /connectors", "HEAD", "/connectors/$id-none"),
    Step("OPTIONS /connectors", "OPTIONS", "/connectors", select=lambda text: sorted(text.split(", "))),
    typed("sent as text", "text/plain"),
    typed("sent as a form", "application/x-www-form-urlencoded"),
    typed("sent as JSON of a charset", "application/json; charset=utf-8"),
    typed("config sent as text", "text/plain", "PUT", "/connectors/$id-none/config"),
    Step("sent without a type", "POST", "/connectors", b'{"name":"","config":{}}', {"Content-Type": ""}),
    accepting("asks for HTML", "text/html"),
    accepting("asks for anything", "text/html, */*"),
    accepting("asks for JSON", "application/json"),
)

LOGGER = "/admin/loggers/org.apache.kafka.connect.compat"
LOGGERS = (
    get("root logger", "/admin/loggers/root"),
    get("root logger in capitals", "/admin/loggers/ROOT"),
    get("unknown logger", "/admin/loggers/org.example.nothing"),
    put("set a logger", LOGGER, {"level": "DEBUG"}),
    get("logger set", LOGGER),
    put("set a logger in lower case", LOGGER, {"level": "warn"}),
    get("logger set from lower case", LOGGER),
    put("set a logger of the worker", f"{LOGGER}?scope=worker", {"level": "ERROR"}),
    put("set a logger of the cluster", f"{LOGGER}?scope=cluster", {"level": "INFO"}),
    get("logger set in the cluster", LOGGER, lambda answer: answer.body["level"] == "INFO"),
    put("set a logger of an unknown scope", f"{LOGGER}?scope=galaxy", {"level": "DEBUG"}),
    put("set a logger to an unknown level", LOGGER, {"level": "LOUD"}),
    put("set a logger without level", LOGGER, {}),
    put("set a logger to null", LOGGER, {"level": None}),
    put("set a logger with an unknown field", LOGGER, {"level": "DEBUG", "colour": "red"}),
    put("set a logger with no JSON", LOGGER, b"x"),
    put("set a logger with an array", LOGGER, []),
    put("set a logger with null", LOGGER, b"null"),
    get("loggers", "/admin/loggers", select=lambda loggers: {name: loggers[name] for name in (LOGGER[15:],)}),
)

INTERNAL = (
    post("task configs from outside", "/connectors/$id-none/tasks", []),
    put("fence from outside", "/connectors/$id-none/fence"),
    delete("delete a path below", "/connectors/$id-none/status"),
)

STEPS = (*REFUSED, *LOGGERS, *INTERNAL)
