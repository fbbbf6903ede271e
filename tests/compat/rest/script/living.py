"""Pause, resume, stop, restart, active topics and delete."""

from __future__ import annotations

from tests.compat.rest.script.creating import create
from tests.compat.rest.step import Answer, Step, delete, get, post, put, sink, source, states

L = "/connectors/$id-life"
BOTH = states("RUNNING", "RUNNING")


def has_topic(answer: Answer) -> bool:
    return bool(answer.body["$id-life"]["topics"])


def failed_task(answer: Answer) -> bool:
    return answer.status == 200 and [task["state"] for task in answer.body["tasks"]] == ["FAILED"]


STATES = (
    create("create for life", "$id-life", source()),
    get("life runs", f"{L}/status", BOTH),
    get("active topics", f"{L}/topics", has_topic),
    put("pause", f"{L}/pause"),
    get("paused", f"{L}/status", states("PAUSED", "PAUSED")),
    put("pause again", f"{L}/pause"),
    get("task is paused", f"{L}/tasks/0/status"),
    put("resume", f"{L}/resume"),
    get("resumed", f"{L}/status", BOTH),
    put("resume again", f"{L}/resume"),
    put("stop", f"{L}/stop"),
    get("stopped", f"{L}/status", states("STOPPED")),
    get("stopped connector", L),
    get("tasks of the stopped", f"{L}/tasks"),
    get("task configs of the stopped", f"{L}/tasks-config"),
    get("task status of the stopped", f"{L}/tasks/0/status"),
    put("stop again", f"{L}/stop"),
    put("pause the stopped", f"{L}/pause"),
    get("stopped is paused", f"{L}/status", states("PAUSED")),
    put("resume the stopped", f"{L}/resume"),
    get("resumed from stopped", f"{L}/status", BOTH),
    put("pause with a body", f"{L}/pause", {"ignored": True}),
    put("resume with a body", f"{L}/resume", b"not json at all"),
    get("resumed once more", f"{L}/status", BOTH),
    *(put(f"{verb} an unknown connector", f"/connectors/$id-none/{verb}") for verb in ("pause", "resume")),
    put("stop an unknown connector", "/connectors/$id-none/stop"),
)


def restart(name: str, query: str = "", path: str = L) -> tuple[Step, ...]:
    again = get(f"runs after: {name}", f"{L}/status", BOTH, steady=10)
    return (post(name, f"{path}/restart{query}"), again)


RESTARTS = (
    *restart("restart"),
    *restart("restart with tasks", "?includeTasks=true"),
    *restart("restart what failed", "?onlyFailed=true"),
    *restart("restart with tasks what failed", "?includeTasks=true&onlyFailed=true"),
    *restart("restart with both flags off", "?includeTasks=false&onlyFailed=false"),
    *restart("restart with a flag that is no boolean", "?includeTasks=maybe"),
    *restart("restart with an empty flag", "?includeTasks="),
    *restart("restart with a flag in capitals", "?includeTasks=TRUE"),
    *restart("restart with an unknown flag", "?colour=red"),
    *restart("restart a task", path=f"{L}/tasks/0"),
    *restart("restart a task that is not there", path=f"{L}/tasks/5"),
    *restart("restart a task below zero", path=f"{L}/tasks/-1"),
    *restart("restart a task that is no number", path=f"{L}/tasks/x"),
    *restart("restart a task of an unknown connector", path="/connectors/$id-none/tasks/0"),
    *restart("restart an unknown connector", path="/connectors/$id-none"),
    *restart("restart an unknown connector with tasks", "?includeTasks=true", "/connectors/$id-none"),
)

FAILING = (
    create("create failing", "$id-failing", sink(file="$dir/missing/copy.txt")),
    get("its task has failed", "/connectors/$id-failing/status", failed_task),
    get("status of the failed task", "/connectors/$id-failing/tasks/0/status"),
    post(
        "restart what failed of failing",
        "/connectors/$id-failing/restart?includeTasks=true&onlyFailed=true",
    ),
    get("it failed again", "/connectors/$id-failing/status", failed_task),
    delete("delete failing", "/connectors/$id-failing"),
)

TOPICS = (
    get("topics of an unknown connector", "/connectors/$id-none/topics"),
    put("reset topics of an unknown connector", "/connectors/$id-none/topics/reset"),
    put("stop before resetting topics", f"{L}/stop"),
    get("stopped before resetting topics", f"{L}/status", states("STOPPED")),
    put("reset topics", f"{L}/topics/reset"),
    get("topics are reset", f"{L}/topics", lambda answer: not has_topic(answer)),
    post("restart the stopped", f"{L}/restart"),
    post("restart the stopped with tasks", f"{L}/restart?includeTasks=true"),
    post("restart a task of the stopped", f"{L}/tasks/0/restart"),
    get("still stopped", f"{L}/status", states("STOPPED")),
    delete("delete the stopped", L),
)

STEPS = (*STATES, *RESTARTS, *FAILING, *TOPICS)
