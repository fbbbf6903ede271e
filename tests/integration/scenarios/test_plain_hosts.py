"""The plain processes that stand in for Spark here: `tests/plain_hosts`."""

from __future__ import annotations

import psutil
from copycat_testkit.commands import wait_gone
from copycat_testkit.kafka import unique, wait_until

from tests.integration.scenarios.cluster import Cluster
from tests.integration.scenarios.monitors import Monitor
from tests.integration.scenarios.rest import PATIENCE, Rest


def hosts_of(process: psutil.Process) -> list[psutil.Process]:
    """Return the daemon of an executor and its hosts."""
    (daemon,) = [
        each for each in process.children() if any("plain_daemon" in word for word in each.cmdline())
    ]
    return [daemon, *daemon.children()]


def test_no_jvm_runs_and_a_killed_host_is_replaced(cluster: Cluster, rest: Rest, monitor: Monitor) -> None:
    name = unique("plain")
    rest.create(name, monitor.source(name))
    rest.runs(name)
    _, place = rest.placed(name)
    daemon, *hosts = hosts_of(cluster.up.executor(place))
    assert cluster.up.processes("spark") == []
    assert hosts
    for host in hosts:
        host.kill()
    wait_gone(hosts)
    wait_until(
        lambda: monitor.counts("start").get("task 0") == 2, PATIENCE, "its task starts in another host"
    )
    rest.runs(name)
    assert daemon.is_running()


def test_hosts_end_with_an_executor_that_is_killed(cluster: Cluster, rest: Rest, monitor: Monitor) -> None:
    name = unique("plain")
    rest.create(name, monitor.source(name))
    rest.runs(name)
    _, place = rest.placed(name)
    executor = cluster.up.executor(place)
    below = hosts_of(executor)
    executor.kill()
    wait_gone([executor, *below])
    wait_until(lambda: len(rest.workers()) == 3, PATIENCE, "the worker is back")
    rest.runs(name)
