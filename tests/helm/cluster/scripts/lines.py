"""Writes numbered lines into a file until there is a file `stop`, and calls the gateway all the while.

Runs in a pod, on Python's own library alone.
"""

from __future__ import annotations

import http.client
import threading
import time
from pathlib import Path

DATA = Path("/data")
STOP = DATA / "stop"
GATEWAY = "copycat-gateway:8083"
LINE_SECONDS = 0.05
CALL_SECONDS = 0.2
ANSWER_SECONDS = 10


def write() -> None:
    """Write a line after the other."""
    number = 0
    with (DATA / "in.txt").open("a") as file:
        while not STOP.exists():
            number += 1
            print(number, file=file, flush=True)
            time.sleep(LINE_SECONDS)


def call() -> None:
    """Keep what each call over REST was answered, with a connection of its own."""
    with (DATA / "calls.txt").open("a") as file:
        while not STOP.exists():
            print(time.strftime("%H:%M:%S"), _answer(), file=file, flush=True)
            time.sleep(CALL_SECONDS)


def _answer() -> str:
    connection = http.client.HTTPConnection(GATEWAY, timeout=ANSWER_SECONDS)
    try:
        connection.request("GET", "/connectors")
        return str(connection.getresponse().status)
    except (OSError, http.client.HTTPException) as error:
        return repr(error)
    finally:
        connection.close()


for work in (write, call):
    threading.Thread(target=work).start()
while True:
    time.sleep(3600)
