"""Root, list, create and configure."""

from __future__ import annotations

from tests.compat.rest.step import (
    NOTHING,
    Step,
    delete,
    get,
    patch,
    post,
    put,
    sink,
    source,
    states,
    status,
    without,
)

A = "/connectors/$id-a"


def create(name: str, connector: object, config: object, **more: object) -> Step:
    return post(name, "/connectors", {"name": connector, "config": config, **more})


CREATED = (
    get("root", "/"),
    get("health", "/health"),
    get("no connectors", "/connectors"),
    get("no connectors expanded", "/connectors?expand=info&expand=status"),
    create("create", "$id-a", source()),
    get("connector", A, lambda answer: answer.status == 200 and bool(answer.body["tasks"])),
    get("status", f"{A}/status", states("RUNNING", "RUNNING")),
    get("one connector", "/connectors"),
    get("tasks", f"{A}/tasks"),
    get("task configs", f"{A}/tasks-config"),
    get("task status", f"{A}/tasks/0/status"),
    get("status of a task that is not there", f"{A}/tasks/7/status"),
    get("status of a task that is no number", f"{A}/tasks/x/status"),
    get("status of a task below zero", f"{A}/tasks/-1/status"),
    get("config", f"{A}/config"),
    create("create it again", "$id-a", source()),
    create("create it again, invalid", "$id-a", without(source(), "topic")),
    create("name is trimmed", "  $id-trimmed ", source()),
    get("trimmed is there", "/connectors/$id-trimmed", status(200), lambda body: body["name"]),
    delete("delete trimmed", "/connectors/$id-trimmed"),
    create("name with blanks and accents", "$id-é ü+", source()),
    get("name percent-encoded", "/connectors/$id-%C3%A9%20%C3%BC%2B/config"),
    delete("delete the name percent-encoded", "/connectors/$id-%C3%A9%20%C3%BC%2B"),
)


def created(state: str, tasks: tuple[str, ...]) -> tuple[Step, ...]:
    path = f"/connectors/$id-{state}"
    return (
        create(f"create {state}", f"$id-{state}", sink(), initial_state=state),
        get(f"status of created {state}", f"{path}/status", states(state, *tasks)),
        get(f"created {state}", path),
        get(f"tasks of created {state}", f"{path}/tasks"),
        delete(f"delete created {state}", path),
    )


INITIAL = (
    *created("RUNNING", ("RUNNING",)),
    *created("PAUSED", ()),
    *created("STOPPED", ()),
    create("initial state in lower case", "$id-lower", source(), initial_state="stopped"),
    delete("delete the one in lower case", "/connectors/$id-lower"),
    create("source created PAUSED", "$id-paused-source", source(), initial_state="PAUSED"),
    get("status of source created PAUSED", "/connectors/$id-paused-source/status", states("PAUSED")),
    delete("delete source created PAUSED", "/connectors/$id-paused-source"),
)

REFUSED = (
    create("unknown initial state", "$id-bad", source(), initial_state="SLEEPING"),
    create("initial state of a wrong type", "$id-bad", source(), initial_state=["RUNNING"]),
    post("body is no JSON", "/connectors", b"{nonsense"),
    post("body ends early", "/connectors", b'{"name": "x"'),
    post("body is empty", "/connectors", b""),
    post("no body", "/connectors", NOTHING),
    post("body is null", "/connectors", b"null"),
    post("body is an array", "/connectors", []),
    post("body is text", "/connectors", '"text"'),
    post("body is an empty object", "/connectors", {}),
    post("config missing", "/connectors", {"name": "$id-bad"}),
    create("config null", "$id-bad", None),
    create("config empty", "$id-bad", {}),
    create("config an array", "$id-bad", []),
    create("config value an array", "$id-bad", {**source(), "topic": ["t"]}),
    create("config value an object", "$id-bad", {**source(), "topic": {}}),
    create("config value null", "$id-null", {**source(), "topic": None}),
    get("config with a null value", "/connectors/$id-null/config"),
    delete("delete the one with a null value", "/connectors/$id-null"),
    create("config value a number", "$id-number", {**source(), "batch.size": 7}),
    get("config value a number became text", "/connectors/$id-number/config"),
    delete("delete the one with a number", "/connectors/$id-number"),
    create("unknown field", "$id-bad", source(), colour="red"),
    create("name of a wrong type", {}, source()),
    create("name a number", 12, {**source(), "connector.class": "Nothing"}),
    create("name missing in both", None, source()),
    create("name empty", "", source()),
    create("name blank", "  ", source()),
    create("name with control characters", "bad\u0001name", source()),
    create("names differ", "$id-bad", source("$id-other")),
    create("class missing", "$id-bad", without(source(), "connector.class")),
    create("class empty", "$id-bad", {**source(), "connector.class": ""}),
    create("class unknown", "$id-bad", {**source(), "connector.class": "org.example.Nothing"}),
    create("class is a converter", "$id-bad", {**source(), "connector.class": "StringConverter"}),
    create("tasks.max zero", "$id-bad", {**source(), "tasks.max": "0"}),
    create("tasks.max a word", "$id-bad", {**source(), "tasks.max": "many"}),
    create("several errors", "$id-bad", {**without(source(), "topic"), "tasks.max": "-1"}),
    create("override that cannot be parsed", "$id-bad", {**source(), "producer.override.linger.ms": "soon"}),
    create("sink without topics", "$id-bad", without(sink(), "topics")),
    get("nothing was created", "/connectors/$id-bad"),
)

CONFIGURED = (
    put("put the same config", f"{A}/config", source("$id-a")),
    put("put another config", f"{A}/config", source(batch_size="100")),
    get("the config is another", f"{A}/config"),
    put("put a config under another name", f"{A}/config", source("$id-other")),
    put("put an invalid config", f"{A}/config", without(source(), "topic")),
    put("put a config without class", f"{A}/config", {"file": "x"}),
    put("put no JSON", f"{A}/config", b"]"),
    put("put a null config", f"{A}/config", b"null"),
    put("put an array", f"{A}/config", []),
    put("put nothing", f"{A}/config", b""),
    put("put creates", "/connectors/$id-put/config", source()),
    get("put has created", "/connectors/$id-put/config"),
    patch("patch sets and removes", f"{A}/config", {"batch.size": None, "topic": "$id-more"}),
    get("patched", f"{A}/config"),
    patch("patch nothing", f"{A}/config", {}),
    patch("patch to invalid", f"{A}/config", {"topic": None}),
    patch("patch the name", f"{A}/config", {"name": "$id-other"}),
    patch("patch the name back", f"{A}/config", {"name": "$id-a"}),
    patch("patch null", f"{A}/config", b"null"),
    patch("patch an array", f"{A}/config", b"[1]"),
    patch("patch an unknown connector", "/connectors/$id-none/config", {"a": "b"}),
    get("config of an unknown connector", "/connectors/$id-none/config"),
    get("unknown connector", "/connectors/$id-none"),
    get("status of an unknown connector", "/connectors/$id-none/status"),
    get("tasks of an unknown connector", "/connectors/$id-none/tasks"),
    get("task configs of an unknown connector", "/connectors/$id-none/tasks-config"),
    get("task status of an unknown connector", "/connectors/$id-none/tasks/0/status"),
    delete("delete an unknown connector", "/connectors/$id-none"),
    get("expanded by a word unknown", "/connectors?expand=colour"),
    get("status before expanding", f"{A}/status", states("RUNNING", "RUNNING")),
    get("status of put before expanding", "/connectors/$id-put/status", states("RUNNING", "RUNNING")),
    get("expanded by status", "/connectors?expand=status"),
    get("expanded by info", "/connectors?expand=info"),
    get("expanded by both", "/connectors?expand=info&expand=status"),
    delete("delete put", "/connectors/$id-put"),
    delete("delete", A),
    delete("delete again", A),
    get("deleted", A),
    get("status of the deleted", f"{A}/status", status(404)),
    put("put a sink", A + "/config", sink()),
    get("status of the sink", f"{A}/status", states("RUNNING", "RUNNING")),
    put("put a source over the sink", A + "/config", source()),
    get("the type is another", A, lambda answer: answer.status == 200 and answer.body["type"] == "source"),
    delete("delete the changed", A),
)

STEPS = (*CREATED, *INITIAL, *REFUSED, *CONFIGURED)
