"""From a line to a call, from its outcome to a line."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from copycat_connect.config.placeholders import Placeholders
from copycat_connect.plugin.registry import Plugins
from copycat_telemetry.loggers import set_level

from copycat_executor.connectorhost.failures import failure
from copycat_executor.connectorhost.instance import ConnectorInstance
from copycat_executor.connectorhost.lines import LineWriter
from copycat_executor.connectorhost.queries import LineQueries
from copycat_executor.connectorhost.questions import Question
from copycat_executor.connectorhost.surroundings import Surroundings

Request = Mapping[str, Any]
Call = Callable[[], Any]
Scrub = Callable[[str], str]


class Dispatcher:
    """Carries out calls, from one thread; only threads of author code ever block."""

    def __init__(
        self, plugins: Plugins, worker: Mapping[str, str], environment: Mapping[str, str], out: LineWriter
    ) -> None:
        """Take what is installed and set; `environment` is for the config provider of that name.

        Raises:
            ConfigError: A config provider is unknown or wrongly set up.
        """
        self._surroundings = Surroundings(
            plugins, Placeholders.from_worker(worker, environment), LineQueries(out.write), worker
        )
        self._instances: dict[int, ConnectorInstance] = {}
        self._out = out

    def dispatch(self, request: Request) -> None:
        """Begin one call; its answer follows in a line of its own."""
        match request["call"]:
            case "ping":
                self._out.write({"id": request["id"], "result": None})
            case "level":
                set_level(request["logger"], request["level"])
            case "answered":
                self._surroundings.queries.answer(request)
            case "abandon":
                self._abandon(request["incarnation"])
            case "start" | "task_configs" | "stop":
                self._run_connector(request)
            case _:
                question = Question(self._surroundings, request, self._out)
                job = self._answering(request, question.answer, question.scrub)
                threading.Thread(target=job, name=f"call-{request['id']}", daemon=True).start()

    def _abandon(self, incarnation: int) -> None:
        instance = self._instances.pop(incarnation, None)
        if instance is not None:
            instance.abandon()

    def _run_connector(self, request: Request) -> None:
        instance = self._instance(request)
        if instance is None:
            error = LookupError(f"there is no incarnation {request['incarnation']}")
            self._out.write({"id": request["id"], "error": failure(error, str)})
            return
        match request["call"]:
            case "start":
                call: Call = instance.start
            case "task_configs":
                call = partial(instance.task_configs, request["max_tasks"])
            case _:
                call = instance.stop
        instance.submit(self._answering(request, call, instance.scrub))

    def _instance(self, request: Request) -> ConnectorInstance | None:
        incarnation = request["incarnation"]
        if request["call"] == "start":
            self._instances[incarnation] = ConnectorInstance(
                incarnation, request["config"], self._surroundings, self._out.write
            )
        elif request["call"] == "stop":
            return self._instances.pop(incarnation, None)
        return self._instances.get(incarnation)

    def _answering(self, request: Request, call: Call, scrub: Scrub) -> Callable[[], None]:
        def job() -> None:
            try:
                answer = {"result": call()}
            except (
                BaseException
            ) as error:  # the top of the call: an author may raise anything, SystemExit too
                answer = {"error": failure(error, scrub)}
            self._out.write({"id": request["id"], **answer})

        return job
