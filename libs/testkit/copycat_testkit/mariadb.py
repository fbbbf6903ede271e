"""A real MariaDB for tests: the system's own, installed if missing."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

from copycat_embedded.ports import LOOPBACK, free_ports

from copycat_testkit.debian import install, one_at_a_time
from copycat_testkit.kafka import wait_until

_READY_SECONDS = 60.0
USER: Final = "copycat"
SECRET: Final = "conformance-5e1d"  # noqa: S105  of a server that lives as long as a test
DATABASE: Final = "shop"


class MariaDb:
    """One server on loopback, with a database and a user with a password; it can be killed and started again.

    `folder` must be one that the server's own account can reach, and short: directly below /tmp.
    """

    def __init__(self, folder: Path) -> None:
        """Nothing starts yet; `folder` receives the databases and the log."""
        self._folder = folder
        self.port = free_ports(1)[0]
        self._process: subprocess.Popen[bytes] | None = None

    def url(self, database: str = DATABASE, scheme: str = "mariadb") -> str:
        """Return what `connection.url` is set to."""
        return f"jdbc:{scheme}://{LOOPBACK}:{self.port}/{database}"

    @property
    def login(self) -> dict[str, Any]:
        """What `pymysql.connect` takes to reach the database."""
        return {"host": LOOPBACK, "port": self.port, "user": USER, "password": SECRET, "database": DATABASE}

    def start(self) -> MariaDb:
        """Start, and wait until it takes connections."""
        server = _server()
        data = self._folder / "data"
        account = _account()
        first = self._folder / "first.sql"
        if not data.exists():
            self._folder.mkdir(parents=True, exist_ok=True)
            first.write_text(
                f"CREATE DATABASE IF NOT EXISTS {DATABASE} CHARACTER SET utf8mb4;\n"
                f"CREATE USER IF NOT EXISTS '{USER}'@'%' IDENTIFIED BY '{SECRET}';\n"
                f"GRANT ALL ON *.* TO '{USER}'@'%';\n"
            )
            if account is not None:
                for place in (self._folder, first):
                    os.chown(place, account, -1)
            command = [_program("mariadb-install-db"), "--no-defaults", f"--datadir={data}", "--skip-test-db"]
            options = [f"--user={pwd.getpwuid(account).pw_name}"] if account is not None else []
            subprocess.run([*command, *options], check=True, capture_output=True, cwd="/")
        settings = {
            "datadir": data,
            "bind-address": LOOPBACK,
            "port": self.port,
            "socket": self._folder / "socket",
            "pid-file": self._folder / "pid",
            "init-file": first,
            "innodb-flush-log-at-trx-commit": 2,  # what was committed outlives the server, not the machine
            "max-connections": 30,
            "max-allowed-packet": "64M",
        }
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [server, "--no-defaults", *(f"--{name}={value}" for name, value in settings.items())],
                stdout=log,
                stderr=log,
                user=account,
                cwd="/",
            )
        wait_until(self._answers, _READY_SECONDS, "MariaDB answers")
        return self

    def stop(self) -> None:
        """End it at once; connections are cut."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(60)
            self._process = None

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, (self._folder / "log").read_text(errors="replace")[-2000:]
        options = ["--no-defaults", "--protocol=tcp", f"--host={LOOPBACK}", f"--port={self.port}"]
        ask = [_program("mariadb-admin"), *options, f"--user={USER}", f"--password={SECRET}", "ping"]
        return subprocess.run(ask, check=False, capture_output=True).returncode == 0


def _account() -> int | None:
    """The server should not run as root: it is given to the account that comes with its package."""
    return pwd.getpwnam("mysql").pw_uid if os.geteuid() == 0 else None


def _server() -> str:
    with one_at_a_time("mariadb-install"):
        if _found("mariadbd") is None:
            install("mariadb-server")
        return _program("mariadbd")


def _program(name: str) -> str:
    found = _found(name)
    assert found is not None, f"install MariaDB: there is no {name}"
    return found


def _found(name: str) -> str | None:
    """Return a program's path; Debian keeps the server where only root looks."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
