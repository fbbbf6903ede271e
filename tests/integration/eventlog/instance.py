"""One instance of a small service in a process of its own; tests talk to it over its pipes.

Reads lines `<key> <value>` and answers each with `ok <key> <value>` once it is durable and folded, or with
`failed <key> <value> <error>`. `get <key>` is answered with `is <key> <value>`. It says `ready` when caught
up, then `leads` or `follows` whenever that changes.
"""

from __future__ import annotations

import asyncio
import os
import sys

from copycat_connect.errors import CopycatError
from copycat_eventlog.handler import EventSourced
from copycat_eventlog.open import open_log
from copycat_eventlog.settings import Backend, LogSettings
from copycat_testkit.puts import DECIDER, PutCodec, PutKey, Puts


def say(*words: str) -> None:
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()


async def put(events: Puts, key: str, value: str) -> None:
    try:
        await events.execute(PutKey(key, value))
    except CopycatError as error:
        say("failed", key, value, type(error).__name__)
    else:
        say("ok", key, value)


async def tell_who_leads(events: Puts) -> None:
    said = None
    while True:
        if events.leads != said:
            said = events.leads
            say("leads" if said else "follows")
        await asyncio.sleep(0.01)


async def main(bootstrap: str, name: str, session: str) -> None:
    settings = LogSettings(Backend.KAFKA, bootstrap, name, 1, 1, owner_id=name, session=float(session))
    events: Puts = EventSourced(DECIDER, PutCodec(), open_log(settings), patience=0.5)
    await events.start()
    say("ready")
    teller = asyncio.create_task(tell_who_leads(events))
    lines = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    puts = set()
    while line := (await lines.readline()).decode().split():
        key, value = line
        if key == "get":
            say("is", value, events.state.get(value, ""))
        else:
            puts.add(asyncio.create_task(put(events, key, value)))
    teller.cancel()
    await events.stop()
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
