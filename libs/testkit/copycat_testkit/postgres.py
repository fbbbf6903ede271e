"""A real PostgreSQL for tests: the system's own, installed if missing."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from copycat_embedded.ports import LOOPBACK, free_ports

from copycat_testkit.debian import install, one_at_a_time
from copycat_testkit.kafka import wait_until

_READY_SECONDS = 60.0
_PROGRAMS = Path("/usr/lib/postgresql")
USER = "copycat"
SECRET = "conformance-7f3a"  # noqa: S105  of a server that lives as long as a test


class Postgres:
    """One server on loopback, whose user has a password; it can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        """Nothing starts yet; `folder` receives the databases and the log."""
        self._folder = folder
        self.port = free_ports(1)[0]
        self._process: subprocess.Popen[bytes] | None = None

    def url(self, database: str = "postgres") -> str:
        """Return what `connection.url` is set to."""
        return f"jdbc:postgresql://{LOOPBACK}:{self.port}/{database}"

    @property
    def conninfo(self) -> str:
        """What psycopg connects with."""
        return f"host={LOOPBACK} port={self.port} user={USER} password={SECRET} dbname=postgres"

    def start(self) -> Postgres:
        """Start, and wait until it takes connections."""
        programs = _programs()
        data = self._folder / "data"
        account = _account()
        if not data.exists():
            self._folder.mkdir(parents=True, exist_ok=True)
            password = self._folder / "password"
            password.write_text(SECRET)
            if account is not None:
                for place in (self._folder, password):
                    os.chown(place, account, -1)
            command = [str(programs / "initdb"), "-D", str(data), "-U", USER, "-A", "scram-sha-256"]
            options = [f"--pwfile={password}", "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8"]
            subprocess.run([*command, *options], check=True, capture_output=True, user=account, cwd="/")
        settings = {
            "listen_addresses": LOOPBACK,
            "unix_socket_directories": "",
            "fsync": "off",
            "max_connections": "30",
        }
        options = [f"--{name}={value}" for name, value in settings.items()]
        log = (self._folder / "log").open("ab")
        with log:
            self._process = subprocess.Popen(
                [programs / "postgres", "-D", data, "-p", str(self.port), *options],
                stdout=log,
                stderr=log,
                user=account,
                cwd="/",
            )
        ask = [str(programs / "pg_isready"), "-q", "-h", LOOPBACK, "-p", str(self.port)]
        wait_until(
            lambda: subprocess.run(ask, check=False).returncode == 0, _READY_SECONDS, "PostgreSQL answers"
        )
        return self

    def stop(self) -> None:
        """End it at once; connections are cut."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(60)
            self._process = None


@contextmanager
def running_postgres() -> Iterator[Postgres]:
    """Run a server in a folder of its own that goes with it; who stops it starts it again."""
    # Below /tmp itself: the server's own account may not look into the folders of tests.
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    server = Postgres(folder)
    try:
        yield server.start()
    finally:
        server.stop()
        shutil.rmtree(folder)


def _account() -> int | None:
    """The server refuses to run as root: it is given to the account that comes with its package."""
    return pwd.getpwnam("postgres").pw_uid if os.geteuid() == 0 else None


def _programs() -> Path:
    """Return the folder of the newest installation; Debian keeps it off the path."""
    with one_at_a_time("postgres-install"):
        if (found := _installed()) is None:
            install("postgresql")
            found = _installed()
    assert found is not None, "install PostgreSQL: there is no initdb"
    return found


def _installed() -> Path | None:
    packaged = sorted(_PROGRAMS.glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if packaged:
        return packaged[-1].parent
    on_path = shutil.which("initdb")
    return Path(on_path).resolve().parent if on_path else None
