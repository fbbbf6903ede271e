"""Forks a process for each host that it is asked for, as PySpark's daemon does: loads once what all need."""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import sys
import traceback
from contextlib import suppress

from copycat_executor.spark.daemon import adopt_orphans, preload
from copycat_executor.taskhost.entry import run_host
from copycat_executor.taskhost.spec import HostSpec

#: How often it looks for what hosts left behind.
LOOK_MS = 1000


class Daemon:
    """Its hosts, each by its process, and the pipe to the executor."""

    def __init__(self, calls: socket.socket) -> None:
        self._calls = calls
        self._hosts: dict[int, tuple[str, int]] = {}
        """By process: what a host is called, and the file descriptor that says when it ends."""
        self._wake = select.poll()
        self._wake.register(calls, select.POLLIN)

    def serve(self) -> None:
        """Run until the executor ends."""
        read = b""
        while True:
            woken = [descriptor for descriptor, _ in self._wake.poll(LOOK_MS)]
            self._reap()
            if self._calls.fileno() not in woken:
                continue
            got = self._calls.recv(65536)
            if not got:
                return
            *lines, read = (read + got).split(b"\n")
            for line in lines:
                self._obey(json.loads(line))

    def _obey(self, call: dict[str, str]) -> None:
        if "run" in call:
            self._fork(call["run"], call["spec"])
        for pid, (name, _) in self._hosts.items():
            if name == call.get("kill"):
                os.kill(pid, signal.SIGKILL)

    def _fork(self, name: str, spec: str) -> None:
        pid = os.fork()
        if not pid:
            self._become(spec)
        ends = os.pidfd_open(pid)
        self._hosts[pid] = name, ends
        self._wake.register(ends, select.POLLIN)

    def _become(self, spec: str) -> None:
        """Be a host to its end."""
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        for descriptor in (self._calls.fileno(), *(ends for _, ends in self._hosts.values())):
            os.close(descriptor)
        try:
            run_host(HostSpec.from_json(spec))
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)

    def _reap(self) -> None:
        """Report the hosts that ended; what they left behind is reaped with them."""
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                pid, status = ended
                name, ends = self._hosts.pop(pid, ("", -1))
                if name:
                    self._wake.unregister(ends)
                    os.close(ends)
                    code = os.waitstatus_to_exitcode(status)
                    self._calls.sendall(json.dumps([name, code]).encode() + b"\n")


def main() -> None:
    """Load what every host needs, then serve on the socket that the first argument names."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    preload()
    gc.collect()
    gc.freeze()
    adopt_orphans()
    with suppress(OSError):  # the executor may end while something is sent to it
        Daemon(socket.socket(fileno=int(sys.argv[1]))).serve()
    os.kill(0, signal.SIGHUP)  # as PySpark's does


if __name__ == "__main__":
    main()
