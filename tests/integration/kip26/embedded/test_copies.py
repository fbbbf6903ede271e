"""Copies of an application that share an app id are one cluster, whoever of them comes, leaves or dies."""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path
from typing import Any

import httpx2
import pytest
from copycat_testkit.commands import wait_gone
from copycat_testkit.kafka import consume_all, unique, wait_until

from tests.integration.kip26.conftest import Launch

pytestmark = pytest.mark.timeout(400)
START = 180.0
SECONDS = 90.0
LIMIT = 4


def running(url: str) -> dict[tuple[str, int], str]:
    """Return the worker of each task that runs."""
    try:
        found = httpx2.get(f"{url}/connectors", params={"expand": "status"}, timeout=30)
    except httpx2.TransportError:
        return {}
    if found.status_code != 200:
        return {}
    return {
        (name, task["id"]): task["worker_id"]
        for name, parts in found.json().items()
        for task in parts["status"]["tasks"]
        if task["state"] == "RUNNING"
    }


def workers(url: str) -> list[dict[str, Any]]:
    """Return the live workers; none while the services move."""
    try:
        found = httpx2.get(f"{url}/workers", timeout=30)
    except httpx2.TransportError:
        return []
    return list(found.json()) if found.status_code == 200 else []


def spread(url: str, copies: int) -> bool:
    """Whether all tasks run, evenly over so many copies."""
    tasks = running(url)
    shares = Counter(tasks.values())
    live = [each["worker_id"] for each in workers(url)]
    even = max(shares.values(), default=0) - min((shares[name] for name in live), default=0) < 2
    return len(tasks) == LIMIT and len(live) == copies and set(shares) <= set(live) and even


@pytest.mark.row("K26-40", "K26-42", "K26-87")
def test_k26_94_one_three_and_two_copies_share_no_more_than_the_limit(
    launch: Launch, kafka: str, tmp_path: Path
) -> None:
    app_id = unique("app")
    for number in range(2 * LIMIT):
        (tmp_path / f"{number}.txt").write_text("first\n")
    first = launch(app_id)
    url = first.wait_ready(START)
    config = {
        "connector.class": "author.FolderSourceConnector",
        "folder": str(tmp_path),
        "topic.prefix": f"{app_id}.",
        "tasks.max": str(LIMIT),
    }
    assert httpx2.put(f"{url}/connectors/files/config", json=config, timeout=60).status_code == 201
    wait_until(lambda: spread(url, 1), SECONDS, "all tasks on one copy")
    second, third = launch(app_id), launch(app_id)
    urls = [copy.wait_ready(START) for copy in (second, third)]
    wait_until(lambda: spread(url, 3), SECONDS, "an even share for each of three copies")

    # The first copy runs the services: another one takes them over with its tasks (K26-36, K26-40).
    processes = first.tree()
    first.end(signal.SIGKILL)
    wait_gone(processes)
    wait_until(lambda: all(spread(each, 2) for each in urls), SECONDS, "an even share for the two left")
    (tmp_path / "0.txt").write_text("first\nsecond\n")
    topic = f"{app_id}.0"
    wait_until(
        lambda: {message.value() for message in consume_all(kafka, topic)} >= {b"first", b"second"},
        SECONDS,
        "records after the takeover",
    )

    assert second.end(signal.SIGINT) == 0, second.said()
    wait_until(lambda: spread(urls[1], 1), SECONDS, "all tasks on the last copy")
    assert third.end() == 0, third.said()


@pytest.mark.long
def test_k26_87_another_app_id_is_another_cluster(launch: Launch, tmp_path: Path) -> None:
    (tmp_path / "lines.txt").write_text("one\n")
    mine, theirs = unique("mine"), unique("theirs")
    copies = launch(mine), launch(theirs)
    urls = [copy.wait_ready(START) for copy in copies]
    config = {"connector.class": "FileStreamSource", "file": str(tmp_path / "lines.txt"), "topic": mine}
    assert httpx2.put(f"{urls[0]}/connectors/lines/config", json=config, timeout=60).status_code == 201
    wait_until(lambda: running(urls[0]), SECONDS, "a task")
    assert httpx2.get(f"{urls[1]}/connectors", timeout=30).json() == []
    assert [len(workers(url)) for url in urls] == [1, 1]
    assert [copy.end() for copy in copies] == [0, 0]
