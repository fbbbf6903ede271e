"""Processes of connectors: who ended one, where those run that hung, what author code is given there."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Collection, Coroutine, Mapping
from pathlib import Path
from typing import Any

import pytest
from copycat_connect.config import HIGH, PASSWORD, STRING, ConfigDef, ConfigKey, Password
from copycat_connect.config.placeholders import Placeholders
from copycat_connect.config.provider import ConfigProvider
from copycat_connect.config.setting import ConfigValue
from copycat_connect.errors import ConfigError
from copycat_connect.plugin.spec import PluginKind, PluginSpec
from copycat_connect.validation.infos import main_infos
from copycat_executor.background import BackgroundJobs
from copycat_executor.children.connector_process import ProcessEnd
from copycat_executor.children.connector_processes import DEATHS_TO_PART, MAX_APART, ConnectorProcesses
from copycat_executor.connectorhost.author_thread import AuthorThread
from copycat_executor.connectorhost.instance import check_creation_keys
from copycat_executor.connectorhost.plugin_answers import validation
from copycat_executor.connectorhost.secrets import Resolved
from copycat_executor.domain import deaths
from copycat_executor.pipes.authors import authors_of, connector_author, tag_of
from copycat_executor.pipes.connector_messages import (
    DescribeKeys,
    ListPlugins,
    QuestionCall,
    ValidateConfig,
)
from copycat_executor.pipes.processor_time import busiest

NOBODY: frozenset[str] = frozenset()
A, B, C = (frozenset({each}) for each in "abc")


@pytest.mark.parametrize(
    ("end", "suspects"),
    [
        (ProcessEnd("", known=A, called=B, outside=False), A),
        (ProcessEnd("", known=NOBODY, called=B, outside=False), B),
        (ProcessEnd("", known=NOBODY, called=NOBODY, outside=False), C),
        (ProcessEnd("", known=NOBODY, called=B, outside=True), B),
        (ProcessEnd("", known=NOBODY, called=NOBODY, outside=True), NOBODY),
    ],
    ids=["who is known", "who was called", "who was there", "who was called when it was killed", "nobody"],
)
def test_the_suspects_of_an_end_are_those_of_whom_most_is_known(
    end: ProcessEnd, suspects: frozenset[str]
) -> None:
    assert end.suspects(C) == suspects


@pytest.mark.parametrize(
    ("after", "found"),
    [
        ({"@a": 3.0, "python": 1.1}, ("@a", 2.0)),
        ({"@a": 2.0, "@b": 2.0}, None),
        ({"@a": 1.0}, None),
        ({}, None),
    ],
    ids=["one computes", "two compute", "none computes", "none is left"],
)
def test_the_busiest_threads_are_those_that_computed_nearly_alone(
    after: dict[str, float], found: tuple[str, float] | None
) -> None:
    assert busiest({"@a": 1.0, "@b": 1.0, "python": 1.0}, after) == found


@pytest.mark.parametrize(
    ("call", "authors"),
    [
        (ValidateConfig({"name": "n", "connector.class": "C"}), ("connector n", "class C")),
        (ValidateConfig({"connector.class": "C"}), ("class C",)),
        (ValidateConfig({"name": "", "connector.class": None}), ()),
        (DescribeKeys("C", None), ("class C",)),
        (ListPlugins(), ()),
    ],
)
def test_a_question_is_answered_by_the_code_of_its_connector(
    call: QuestionCall[object], authors: tuple[str, ...]
) -> None:
    assert authors_of(call) == authors


def test_threads_of_an_author_and_those_they_start_bear_its_tag_in_the_kernel() -> None:
    found: list[str] = []
    done = threading.Event()

    def look() -> None:
        found.append(Path("/proc/thread-self/comm").read_text().strip())

    def work() -> None:
        look()
        inner = threading.Thread(target=look)
        inner.start()
        inner.join()
        done.set()

    tag = tag_of(connector_author("orders"))
    thread = AuthorThread("connector-1", tag, lambda: None)
    thread.submit(work)
    assert done.wait(60)
    thread.end()
    assert found[0] == tag
    if sys.version_info < (3, 14):
        assert found[1] == tag


class CountedJobs(BackgroundJobs):
    """Knows how many processes were begun."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = 0

    def spawn(self, job: Coroutine[Any, Any, Any], name: str = "") -> asyncio.Task[Any]:
        self.begun += 1
        return super().spawn(job, name)


async def hang_together(processes: ConnectorProcesses, names: list[str]) -> None:
    for name in names:
        processes.enter(name)
    for name in names:
        processes.leave(name, None, hung=True)


async def test_connectors_that_hang_together_share_a_bounded_number_of_processes() -> None:
    jobs, names = CountedJobs(), [f"c{each}" for each in range(100)]
    processes = ConnectorProcesses({}, jobs)
    try:
        for _ in range(2):
            await hang_together(processes, names)
            jobs.begun = 0
            for name in names:
                processes.enter(name)
            assert jobs.begun <= MAX_APART
    finally:
        await jobs.close()


async def test_a_connector_that_hung_long_ago_runs_with_the_others_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    jobs = CountedJobs()
    processes = ConnectorProcesses({}, jobs)
    try:
        await hang_together(processes, ["orders"])
        monkeypatch.setattr(deaths, "MEMORY_SECONDS", 0.0)
        jobs.begun = 0
        for name in ("orders", "others"):
            processes.enter(name)
        assert jobs.begun == 1, "they share"
    finally:
        await jobs.close()


async def test_connectors_that_wait_for_their_process_are_not_suspected_of_its_end() -> None:
    jobs, names = CountedJobs(), ["a", "b"]
    processes = ConnectorProcesses({}, jobs)
    try:
        for _ in range(DEATHS_TO_PART):
            for name in names:
                processes.enter(name)
            processes._ended(processes._shared, ProcessEnd("", frozenset(), frozenset(), False, served=False))
            jobs.begun = 0
        for name in names:
            processes.enter(name)
        assert jobs.begun == 0, "they share again"
    finally:
        await jobs.close()


SECRET = "correct horse"
SPEC = PluginSpec("c", PluginKind.SINK, "1", "Does nothing.", ConfigDef(), object)


class Vault(ConfigProvider):
    def get(self, path: str, keys: Collection[str]) -> Mapping[str, str]:
        return {key: {"db": SECRET, "pin": "1", "code": "k7x"}[key] for key in keys}


def resolved(**config: str | None) -> Resolved:
    return Resolved.of(config, Placeholders({"vault": Vault()}))


def test_author_code_gets_values_and_no_nulls() -> None:
    assert resolved(password="${vault:db}", other=None).given() == {"password": SECRET}


def test_a_task_value_that_is_the_connectors_secret_is_published_as_its_placeholder() -> None:
    config = resolved(password="${vault:db}")
    assert config.restore([{"password": SECRET}]) == [{"password": "${vault:db}"}]


def test_a_secret_under_another_key_is_a_placeholder_again_too() -> None:
    config = resolved(password="${vault:db}")
    assert config.restore([{"connection.password": SECRET}]) == [{"connection.password": "${vault:db}"}]


def test_a_value_too_common_to_tell_a_secret_by_is_left_under_other_keys() -> None:
    config = resolved(pin="${vault:pin}")
    assert config.restore([{"pin": "1", "index": "1"}]) == [{"pin": "${vault:pin}", "index": "1"}]


def test_an_own_value_of_a_task_stays() -> None:
    assert resolved(password="${vault:db}").restore([{"password": "mine"}]) == [{"password": "mine"}]


def test_texts_that_leave_the_process_hold_no_secret() -> None:
    config = resolved(password="${vault:db}")
    assert config.scrub(f"cannot log in with {SECRET}!") == "cannot log in with ${vault:db}!"


def test_a_validated_value_that_a_provider_gave_is_shown_as_it_was_written_and_nothing_with_it() -> None:
    config = resolved(user="x-${vault:db}", password="${vault:db}", plain="p", unknown="${no:p}")
    keys = {"user": STRING, "password": PASSWORD, "plain": STRING, "unknown": PASSWORD}
    infos = main_infos(
        "c",
        {name: ConfigKey(name, kind, HIGH) for name, kind in keys.items()},
        [
            ConfigValue("user", f"x-{SECRET}", [f"x-{SECRET}"], [f"x-{SECRET} is nobody"]),
            ConfigValue("password", Password(SECRET)),
            ConfigValue("plain", "p", ["q"]),
            ConfigValue("unknown", Password("${no:p}")),
        ],
        (),
    )
    user, password, plain, unknown = validation(infos, SPEC, config).configs
    assert (user.value, user.recommended, user.errors) == ("x-${vault:db}", (), ("x-${vault:db} is nobody",))
    assert (password.value, plain.value, plain.recommended) == ("${vault:db}", "p", ("q",))
    assert unknown.value == "[hidden]"


def test_a_secret_within_a_longer_value_of_a_task_is_published_as_its_placeholder() -> None:
    restored = resolved(password="${vault:db}").restore([{"url": f"jdbc:x?password={SECRET}&y"}])
    assert restored == [{"url": "jdbc:x?password=${vault:db}&y"}]


def test_what_validation_says_holds_no_secret_however_short() -> None:
    config = resolved(code="${vault:code}", pin="${vault:pin}", other="o")
    said = "Invalid value k7x for configuration code"
    assert config.scrub_refusal(said, "code") == "Invalid value ${vault:code} for configuration code"
    assert config.scrub_refusal("'ak7xb' is wrong", "code") == "'a${vault:code}b' is wrong"
    assert config.scrub_refusal("1 is not in 10", "pin") == "${vault:pin} is not in 10"
    assert config.scrub_refusal("code k7x and pin 1") == "code ${vault:code} and pin ${vault:pin}"


def test_no_text_of_a_configuration_shows_it() -> None:
    assert SECRET not in repr(resolved(password="${vault:db}"))


KEYS = {
    "name": "c",
    "topic.creation.default.partitions": "1",
    "topic.creation.default.replication.factor": "1",
}
WRONG = {**KEYS, "topic.creation.default.partitions": "0"}


def test_keys_that_work_need_no_word(caplog: pytest.LogCaptureFixture) -> None:
    check_creation_keys(PluginKind.SOURCE, KEYS, {})

    assert not caplog.records


def test_a_wrong_value_is_refused() -> None:
    with pytest.raises(ConfigError, match="Number of partitions must be positive"):
        check_creation_keys(PluginKind.SOURCE, WRONG, {})


@pytest.mark.parametrize(
    ("kind", "config", "worker", "said"),
    [
        (PluginKind.SINK, WRONG, {}, "sink connectors create no topics"),
        (PluginKind.SOURCE, WRONG, {"topic.creation.enable": "false"}, "has topic.creation.enable=false"),
        (PluginKind.SOURCE, {**KEYS, "topic.creation.groups": "default"}, {}, "lists default"),
        (PluginKind.SOURCE, {"topic.creation.groups": "a"}, {"kip.strict": "true"}, "without both sizes"),
    ],
)
def test_keys_without_effect_are_named(
    kind: PluginKind,
    config: dict[str, str],
    worker: dict[str, str],
    said: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    check_creation_keys(kind, config, worker)

    assert [said in record.getMessage() for record in caplog.records] == [True]
