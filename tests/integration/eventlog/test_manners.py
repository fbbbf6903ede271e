"""What a log must leave alone in its process: logging, signals, standard output."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
import tempfile
from pathlib import Path

import pytest
from copycat_connect.errors import NotWriterError
from copycat_eventlog.append import TransactionalProducer
from copycat_eventlog.clients import librdkafka_config, read_security
from copycat_eventlog.kafka import KafkaLog
from copycat_eventlog.log import Record
from copycat_eventlog.settings import Backend, LogSettings
from copycat_testkit.kafka import unique
from copycat_testkit.log_suite import led, running

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP)


def log_on(kafka: str, name: str) -> KafkaLog:
    return KafkaLog(LogSettings(Backend.KAFKA, kafka, name, 1, 1, owner_id=name))


def content(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir()]


async def test_logging_and_signals_stay_with_the_process(kafka: str) -> None:
    def manners() -> tuple[object, ...]:
        handlers = tuple(signal.getsignal(number) for number in SIGNALS)
        return *handlers, tuple(logging.root.handlers), logging.root.level, sys.stdout, sys.stderr

    before = manners()
    log = log_on(kafka, unique("manners"))
    async with running(log):
        await led(log)
        assert manners() == before
    assert manners() == before


async def test_being_fenced_is_an_error_and_no_noise(kafka: str, capfd: pytest.CaptureFixture[str]) -> None:
    name = unique("fenced")
    log = log_on(kafka, name)
    async with running(log) as reader:
        await led(log)
        await log.append([Record(b"a", b"1")])
        connection = librdkafka_config(kafka, read_security({}))
        fence = TransactionalProducer(connection, name, name)
        await asyncio.to_thread(fence.claim)
        capfd.readouterr()
        with pytest.raises(NotWriterError, match="fenced"):
            await log.append([Record(b"a", b"2")])
        await led(log)
        await reader.reached(await log.append([Record(b"a", b"3")]))
        assert reader.facts == {b"a": b"3"}
        fence.discard()
    assert capfd.readouterr() == ("", "")


async def test_several_logs_share_a_process(kafka: str) -> None:
    one, two = log_on(kafka, unique("one")), log_on(kafka, unique("two"))
    async with running(one) as first, running(two) as second:
        for log, reader in ((one, first), (two, second)):
            await led(log)
            await reader.reached(await log.append([Record(b"a", b"1")]))
    assert not one.leads


async def test_a_log_keeps_nothing_on_disk(
    kafka: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    log = log_on(kafka, unique("diskless"))
    async with running(log):
        await led(log)
        assert content(tmp_path) == []  # so one that is killed leaves nothing either
