"""From the executor's messages to author code, each call in a thread where it may block."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import assert_never

from copycat_connect.cluster import in_any_order
from copycat_connect.config.placeholders import Placeholders
from copycat_connect.errors import ConnectError
from copycat_connect.plugin import PluginKind
from copycat_connect.plugin.connectors import OffsetMove
from copycat_connect.plugin.registry import Plugins
from copycat_telemetry.logs import set_level
from copycat_telemetry.output import MAX_NAMED

from copycat_executor.connectorhost.instance import ConnectorInstance
from copycat_executor.connectorhost.query_checks import QueryChecks
from copycat_executor.connectorhost.questions import AuthorQuestion, from_json
from copycat_executor.connectorhost.resources import ConnectorResources
from copycat_executor.connectorhost.watchdog import CONNECTOR_MEMORY_MAX, Watchdog
from copycat_executor.pipeline.task.memory import memory_limit
from copycat_executor.pipes.authors import authors_of
from copycat_executor.pipes.child import LineWriter
from copycat_executor.pipes.connector_messages import (
    AbandonConnector,
    AlterOffsets,
    AnyConnectorCall,
    DescribeKeys,
    ExplainOffsets,
    FindOffsets,
    FindPlugin,
    ListPlugins,
    MakeTaskConfigs,
    ProcessEnds,
    ProposedEffect,
    ProposedOffset,
    QueryChecked,
    QuestionCall,
    StartConnector,
    StopConnector,
    ToConnectors,
    ValidateConfig,
)
from copycat_executor.pipes.messages import Ask, Call, Ping, SetLevel, T


class Dispatcher:
    """Carries out calls, from one thread; only threads of author code ever block."""

    def __init__(
        self,
        plugins: Plugins,
        worker: Mapping[str, str],
        placeholders: Placeholders,
        out: LineWriter,
        run_connectors: Callable[[Iterable[str]], None] = lambda _: None,
    ) -> None:
        """Keep what is installed and set.

        `run_connectors` hears which connectors there are, until it has heard of too many to name them.
        """
        self._queries = QueryChecks(out.write)
        self._resources = ConnectorResources(plugins, placeholders, self._queries, worker)
        self._instances: dict[int, ConnectorInstance] = {}
        self._questions: dict[int, AuthorQuestion] = {}
        self._out = out
        self._run_connectors = run_connectors
        limit = memory_limit(worker.get(CONNECTOR_MEMORY_MAX))
        self._watchdog = Watchdog(
            limit,
            lambda: [*list(self._instances.values()), *list(self._questions.values())],
            lambda authors: out.write(ProcessEnds(authors)),
        )
        self._watchdog.start()

    def obey(self, message: ToConnectors) -> None:
        """Begin what a message asks for; the answer to a call follows in a line of its own."""
        match message:
            case Ask(number=number, call=call):
                self._begin(number, call)
            case SetLevel(logger=logger, level=level):
                set_level(logger, level)
            case QueryChecked():
                self._queries.answer(message)
            case AbandonConnector(incarnation=incarnation):
                instance = self._instances.pop(incarnation, None)
                self._tell_connectors()
                if instance is not None:
                    self._watchdog.give_up(instance)
            case _:
                assert_never(message)

    def _begin(self, number: int, call: AnyConnectorCall) -> None:
        match call:
            case Ping():
                self._out.reply(number, call, lambda: None, str)
            case StartConnector() | MakeTaskConfigs() | StopConnector():
                self._run_connector(number, call)
            case ListPlugins():
                self._ask(number, call, AuthorQuestion.plugins)
            case DescribeKeys(plugin=plugin, version=version):
                self._ask(number, call, partial(AuthorQuestion.keys, name=plugin, wanted=version))
            case FindPlugin(config=config):
                self._ask(number, call, partial(AuthorQuestion.plugin_of, written=config))
            case ValidateConfig(config=config):
                self._ask(number, call, partial(AuthorQuestion.validate, written=config))
            case AlterOffsets() | ExplainOffsets() | FindOffsets():
                self._ask_about_offsets(number, call)
            case _:
                assert_never(call)

    def _ask_about_offsets(self, number: int, call: AlterOffsets | ExplainOffsets | FindOffsets) -> None:
        match call:
            case AlterOffsets():
                self._ask(number, call, partial(AuthorQuestion.alter_offsets, wanted=call))
            case ExplainOffsets():
                self._ask(number, call, partial(_explained, wanted=call))
            case FindOffsets():
                self._ask(number, call, partial(_found, wanted=call))
            case _:
                assert_never(call)

    def _ask(self, number: int, call: QuestionCall[T], answer: Callable[[AuthorQuestion], T]) -> None:
        """Answer in a thread of its own."""
        question = AuthorQuestion(self._resources, number, authors_of(call), self._out)
        self._questions[number] = question

        def reply() -> None:
            try:
                self._out.reply(number, call, partial(answer, question), question.scrub)
            finally:
                self._questions.pop(number, None)

        question.answer(reply)

    def _run_connector(self, number: int, call: StartConnector | MakeTaskConfigs | StopConnector) -> None:
        """Answer in the connector's thread, after the calls before it."""
        match call:
            case StartConnector(incarnation=incarnation, config=config):
                instance = ConnectorInstance(incarnation, config, self._resources, self._out.write)
                self._instances[incarnation] = instance
                self._tell_connectors()
                self._submit(instance, number, call, instance.start)
            case MakeTaskConfigs(incarnation=incarnation, max_tasks=max_tasks):
                known = self._instances.get(incarnation)
                if known is None:
                    text = f"There is no connector object {incarnation}; start the connector again"
                    self._out.refuse(number, ConnectError(text), str)
                else:
                    self._submit(known, number, call, partial(known.task_configs, max_tasks))
            case StopConnector(incarnation=incarnation):
                known = self._instances.get(incarnation)
                if known is None:  # whoever began it may have been stopped before this process was there
                    self._out.reply(number, call, lambda: None, str)
                else:
                    self._submit(known, number, call, partial(self._stop, known, incarnation))
            case _:
                assert_never(call)

    def _stop(self, instance: ConnectorInstance, incarnation: int) -> None:
        try:
            instance.stop()
        finally:
            self._instances.pop(incarnation, None)  # until now it can be given up
            self._tell_connectors()

    def _tell_connectors(self) -> None:
        if len(self._instances) <= MAX_NAMED + 1:
            self._run_connectors([each.name for each in list(self._instances.values())])

    def _submit(self, instance: ConnectorInstance, number: int, call: Call[T], work: Callable[[], T]) -> None:
        instance.submit(partial(self._out.reply, number, call, work, instance.scrub, instance.declared))


_EXPLAINING = "asking what a change of offsets would do of connector"
_FINDING = "asking for the offsets of a time of connector"


def _explained(question: AuthorQuestion, wanted: ExplainOffsets) -> tuple[ProposedEffect | None, ...] | None:
    """Ask a source connector what moves would do.

    Raises:
        ConnectError: It answered for more or fewer moves than it was asked about.
    """
    kind, connector, given = question.connector(wanted.config, _EXPLAINING)
    if kind is not PluginKind.SOURCE:
        return None
    moves = [
        OffsetMove(from_json(move.partition), from_json(move.before), from_json(move.after))
        for move in wanted.moves
    ]
    effects = connector.explain_offsets(given, moves)
    if effects is None:
        return None
    if len(effects) != len(moves):
        raise ConnectError(
            f"explain_offsets told {len(effects)} effects of {len(moves)} moves: one of each is wanted"
        )
    return tuple(
        None if effect is None else ProposedEffect(effect.repeated, effect.skipped, effect.unit)
        for effect in effects
    )


def _found(question: AuthorQuestion, wanted: FindOffsets) -> tuple[ProposedOffset, ...] | None:
    """Ask a source connector for its offsets of a time."""
    kind, connector, given = question.connector(wanted.config, _FINDING)
    if kind is not PluginKind.SOURCE:
        return None
    offsets = [(from_json(each.partition), from_json(each.offset)) for each in wanted.offsets]
    there = connector.find_offsets(given, offsets, datetime.fromtimestamp(wanted.time / 1000, UTC))
    if there is None:
        return None
    texts = {in_any_order(each.partition): each.partition for each in wanted.offsets}
    answers = []
    for partition, offset in there:
        written = _compact(partition)
        # The bytes of a partition are its identity: those of a known one are kept.
        kept = texts.get(in_any_order(written), written)
        answers.append(ProposedOffset(kept, None if offset is None else _compact(offset)))
    return tuple(answers)


def _compact(tree: object) -> str:
    return json.dumps(tree, ensure_ascii=False, separators=(",", ":"))
