"""A process that uses consumer groups without pause: `python -m ... BOOTSTRAP TOPIC`; it ends with its input.

It prints the number of a caller whenever that one had an answer from the broker.
"""

import asyncio
import sys

from copycat_connect.cluster import TopicPartition
from copycat_connect.errors import UnavailableError
from copycat_offset.adapters.groups import KafkaGroups

CALLERS = 4
PAUSE_SECONDS = 0.005


async def _call(groups: KafkaGroups, caller: int, topic: str) -> None:
    """Use each operation in turn; anything but a broker that is away ends the process."""
    group, partition = f"calls-{caller}", TopicPartition(topic, 0)
    while True:
        try:
            await groups.commit(group, {partition: 5})
            found = await groups.positions(group)
            assert found == {partition: 5}, found
            await groups.forget(group, [partition])
            await groups.delete(group)
        except UnavailableError:
            continue
        sys.stdout.write(f"{caller}\n")
        sys.stdout.flush()
        await asyncio.sleep(PAUSE_SECONDS)


async def _main(bootstrap: str, topic: str) -> None:
    groups = KafkaGroups(bootstrap, {})
    ended = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
    callers = [asyncio.create_task(_call(groups, caller, topic)) for caller in range(CALLERS)]
    done, _ = await asyncio.wait([ended, *callers], return_when=asyncio.FIRST_COMPLETED)
    for each in done - {ended}:
        each.result()
    for each in callers:
        each.cancel()
    await asyncio.gather(*callers, return_exceptions=True)
    await groups.aclose()


if __name__ == "__main__":
    asyncio.run(_main(*sys.argv[1:]))
