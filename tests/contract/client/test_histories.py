"""The past of a connector through the typed client, from a real service."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from copycat.history.v1.history_service_pb2_grpc import add_HistoryServiceServicer_to_server
from copycat_client.client import CopycatClient
from copycat_eventlog.past.change import CONFIG, PastChange
from copycat_eventlog.past.history import PastChanges
from copycat_eventlog.past.keeper import MemoryKeeper
from copycat_rpc.server import RpcServer
from copycat_rpc.services import Addresses
from copycat_serving.history.servicer import SERVICE, HistoryServicer
from copycat_telemetry.asking import USER, Asker

THEN = datetime(2026, 11, 20, 10, tzinfo=UTC)


async def test_changes_and_facts_at_a_time_come_as_they_were_kept() -> None:
    keeper = MemoryKeeper()
    for minutes, before, after in ((0, None, '{"a":"1"}'), (5, '{"a":"1"}', '{"a":"2"}')):
        time = round((THEN + timedelta(minutes=minutes)).timestamp() * 1000)
        ann = Asker(USER, "ann")
        keeper.append(PastChange(time, "c", CONFIG, "x", "", before, after, before_known=True, by=ann))
    server = RpcServer("127.0.0.1:0")
    server.add(add_HistoryServiceServicer_to_server, HistoryServicer(PastChanges(keeper, None)), SERVICE)
    address = await server.start()
    try:
        async with CopycatClient(Addresses(config=[address])) as copycat:
            newest, first = await copycat.history.read("c", CONFIG)
            found, later = await copycat.history.facts_at("c", CONFIG, THEN + timedelta(minutes=1))
            _, not_yet = await copycat.history.facts_at("c", CONFIG, THEN - timedelta(minutes=1))
    finally:
        await server.stop(0)
    assert [newest.after, newest.before, first.before] == [{"a": "2"}, {"a": "1"}, None]
    assert [newest.time, newest.asked_by, newest.name] == [THEN + timedelta(minutes=5), "user", "ann"]
    assert [[each.after for each in found], later] == [[{"a": "1"}], []]
    assert [each.id for each in not_yet] == [first.id]
