"""Where a host starts, whoever runs its process."""

from __future__ import annotations

import ctypes
import logging
import os
import random
import signal
import time
from typing import Final

import grpc
from copycat.host.v1 import host_service_pb2 as pb
from copycat_connect.cluster import ORPHANED_HOST_SECONDS
from copycat_connect.plugin import load_plugins
from copycat_telemetry.logs import configure_logging
from copycat_telemetry.output import take_output
from copycat_telemetry.printing import limit_printing
from copycat_telemetry.tracing import configure_tracing, end_tracing

from copycat_executor.taskhost.host_lease import HostLease
from copycat_executor.taskhost.host_questions import HostQueries
from copycat_executor.taskhost.host_surroundings import Garbage, HostSurroundings, SourceRun
from copycat_executor.taskhost.spec import HostSpec
from copycat_executor.taskhost.stream import ControlStream, let_waits_be_long
from copycat_executor.taskhost.task_host import HostSummary, TaskHost

#: Of Linux's prctl: the signal that a process gets when the thread that forked it ends.
_PR_SET_PDEATHSIG: Final = 1


def _bind_forks() -> None:
    """Have processes that are forked from this one end with the thread that forks them.

    They would otherwise keep its connections open and its memory in use when it is killed. Programs that are
    run by `subprocess` are not affected.
    """
    prctl = ctypes.CDLL(None).prctl
    os.register_at_fork(after_in_child=lambda: prctl(_PR_SET_PDEATHSIG, signal.SIGKILL))


_log = logging.getLogger(__name__)


def run_host(spec: HostSpec, spark_run: SourceRun | None = None) -> str:
    """Run one host until its executor ends it or is lost; answers a JSON summary.

    `spark_run` makes runs of tasks whose records Spark reads, where there is a Spark session.

    Blocks; to be called once in a process, from any thread. When the summary names abandoned tasks, threads
    of theirs still hang, and the process must end without being used again. It is ended by SIGALRM when its
    executor has not renewed the host's lease, or tasks do not end soon after the executor was lost.
    """
    output = take_output("host", host=spec.host_id)
    configure_logging("host", spec.log_level, output.stderr)
    limit_printing(output.stdout, output.stderr)
    configure_tracing("host", spec.span_endpoint)
    _bind_forks()
    let_waits_be_long()
    garbage = Garbage(time.monotonic)
    lease = HostLease(time.monotonic)
    stream = ControlStream(spec, time.monotonic, lease)
    surroundings = HostSurroundings(
        plugins=load_plugins(failed_before=spec.failed_plugins),
        environment=dict(os.environ),
        clock=time.monotonic,
        random=random.SystemRandom().random,
        queries=HostQueries(stream.send),
        garbage=garbage,
        spark_run=spark_run,
        run_connectors=output.about,
    )
    host = TaskHost(surroundings, stream.send, stream.finish)
    garbage.replace_automatic()
    try:
        reason = _attend(stream, host, lease)
    finally:
        garbage.restore_automatic()
        stream.close()
        end_tracing()
    return HostSummary(spec.host_id, reason, host.started, host.abandoned).to_json()


def _obey(host: TaskHost, command: pb.AttachResponse) -> None:
    try:
        host.obey(command)
    except Exception:
        # One command that goes wrong must not end the tasks of all others.
        _log.exception("A command failed: %s", command.WhichOneof("command"))


def _reason(error: grpc.RpcError) -> str:
    """Return code and details; the text of a call that ended is several lines about the call itself."""
    if not isinstance(error, grpc.Call):
        return type(error).__name__
    return f"{error.code().name}: {error.details()}"


def _attend(stream: ControlStream, host: TaskHost, lease: HostLease) -> str:
    """Obey until the stream ends; says why it did."""
    try:
        for command in stream.commands():
            _obey(host, command)
    except grpc.RpcError as error:
        _log.warning("The executor is gone: %s", _reason(error))
        reason = "executor lost"
    except grpc.FutureTimeoutError:
        _log.warning("The executor does not answer")
        reason = "executor not reached"
    else:
        reason = "shutdown" if host.ended_by_command else "stream ended"
    lease.end_within(ORPHANED_HOST_SECONDS)
    host.lose_executor()
    if not host.abandoned:
        lease.over()
    return reason
