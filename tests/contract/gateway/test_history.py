"""/connectors/{name}/history, and `at` on what can be shown as it was."""

from __future__ import annotations

import json

import pytest
from copycat.history.v1 import history_service_pb2 as pb

from tests.contract.gateway.world import World

HISTORY = "/connectors/c/history"
THEN = 1_763_000_000_000


def config_change(number: int, **more: object) -> pb.PastChange:
    """Return a change of a configuration, the later the higher its number."""
    return pb.PastChange(
        id=f"{THEN + number:015d}-k0",
        time_ms=THEN + number,
        connector="c",
        kind="config",
        what="configured",
        after=json.dumps({"number": str(number)}),
        **more,  # type: ignore[arg-type] # fields of the message
    )


async def test_changes_of_all_services_are_shown_newest_first(bare: World) -> None:
    act = pb.PastChange(
        id=f"{THEN + 5:015d}-k2", time_ms=THEN + 5, connector="c", kind="act", subject="0", what="restarted",
        after='{"restart":1}', reason="why", by=pb.Asker(type="automatic", name="worker w"),
    )  # fmt: skip
    ann = pb.Asker(type="user", name="ann", address="127.0.0.1")
    bare.history.changes = [config_change(1, by=ann, before_known=True), act]
    reply = await bare.rest.get(HISTORY)
    assert reply.json() == {
        "connector": "c",
        "changes": [
            {
                "id": act.id,
                "time": "2025-11-13T02:13:20.005Z",
                "kind": "act",
                "what": "restarted",
                "task": 0,
                "about": {"restart": 1},
                "by": {"type": "automatic", "name": "worker w", "address": None},
                "reason": "why",
            },
            {
                "id": config_change(1).id,
                "time": "2025-11-13T02:13:20.001Z",
                "kind": "config",
                "what": "configured",
                "before": None,
                "after": {"number": "1"},
                "by": {"type": "user", "name": "ann", "address": "127.0.0.1"},
            },
        ],
        "next": None,
    }


async def test_a_page_that_is_full_says_where_the_next_begins(bare: World) -> None:
    bare.history.changes = [config_change(2), config_change(1)]
    reply = (await bare.rest.get(f"{HISTORY}?limit=1&kind=config&before=x")).json()
    assert reply["next"] == config_change(2).id
    assert [(each.limit, list(each.kinds), each.before_id) for each in bare.history.asked] == [
        (1, ["config"], "x")
    ]


async def test_an_unknown_connector_without_a_past_is_not_found(bare: World) -> None:
    reply = await bare.rest.get(HISTORY)
    assert [reply.status_code, reply.json()["message"]] == [404, "Connector c not found"]


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("limit=0", "limit=20"),
        ("limit=1001", "limit=20"),
        ("limit=x", "limit=20"),
        ("kind=nothing", "kind=config"),
        ("from=yesterday", "from=2026-11-20T10:00Z"),
        ("to=2999-01-01T00:00Z", "to=2026-11-20T10:00Z"),
    ],
)
async def test_a_parameter_that_cannot_be_answered_is_named_with_an_example(
    bare: World, query: str, named: str
) -> None:
    reply = await bare.rest.get(f"{HISTORY}?{query}")
    assert reply.status_code == 400
    assert f"query parameter {query.partition('=')[0]}" in reply.json()["message"]
    assert named in reply.json()["message"]


async def test_a_configuration_is_shown_as_it_was(bare: World) -> None:
    bare.history.at = pb.ReadFactsAtResponse(changes=[config_change(1)])
    assert (await bare.rest.get("/connectors/c/config?at=2h")).json() == {"number": "1"}
    assert list(bare.history.asked_at[0].kinds) == ["config"]


async def test_what_a_later_change_replaced_is_what_was_in_force(bare: World) -> None:
    later = config_change(1, before='{"number":"0"}', before_known=True)
    bare.history.at = pb.ReadFactsAtResponse(later=[later])
    assert (await bare.rest.get("/connectors/c/config?at=2h")).json() == {"number": "0"}


async def test_what_was_not_there_or_nobody_knows_is_not_found(bare: World) -> None:
    created = config_change(1, before_known=True)
    for known in (pb.ReadFactsAtResponse(), pb.ReadFactsAtResponse(later=[created])):
        bare.history.at = known
        for path in ("config", "status"):
            reply = await bare.rest.get(f"/connectors/c/{path}?at=2h")
            assert reply.status_code == 404, path


async def test_offsets_that_nobody_knows_are_not_found_and_forgotten_ones_left_out(bare: World) -> None:
    assert (await bare.rest.get("/connectors/c/offsets?at=2h")).status_code == 404
    forgotten = pb.PastChange(kind="commit", subject='{"f":1}')
    bare.history.at = pb.ReadFactsAtResponse(changes=[forgotten])
    assert (await bare.rest.get("/connectors/c/offsets?at=2h")).json() == {"offsets": []}


async def test_a_status_is_shown_as_it_was(bare: World) -> None:
    states = {"": {"state": "RUNNING"}, "0": {"state": "FAILED", "trace": "boom"}, "1": None}
    bare.history.at = pb.ReadFactsAtResponse(
        changes=[
            pb.PastChange(
                kind="status",
                subject=subject,
                after=None if state is None else json.dumps({**state, "worker_id": "w", "generation": 3}),
            )
            for subject, state in states.items()
        ]
    )
    assert (await bare.rest.get("/connectors/c/status?at=2h")).json() == {
        "name": "c",
        "connector": {"state": "RUNNING", "worker_id": "w"},
        "tasks": [{"id": 0, "state": "FAILED", "worker_id": "w", "trace": "boom"}],
        "type": "unknown",
    }


async def test_offsets_are_shown_as_they_were(bare: World) -> None:
    fact = pb.PastChange(kind="commit", subject='{"f":1}', after='{"p":2}')
    bare.history.at = pb.ReadFactsAtResponse(changes=[fact])
    assert (await bare.rest.get("/connectors/c/offsets?at=2h")).json() == {
        "offsets": [{"partition": {"f": 1}, "offset": {"p": 2}}]
    }
