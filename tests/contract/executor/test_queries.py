"""The query engine's process, played by a fake: errors as data, deadlines, deaths."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from copycat.host.v1 import host_service_pb2 as pb
from copycat_connect.errors import ConnectError
from copycat_executor.background import Jobs
from copycat_executor.children.query_engine import Queries

ENGINE = Path(__file__).with_name("author")


@asynccontextmanager
async def engine(deadline: float = 10.0) -> AsyncIterator[Queries]:
    jobs = Jobs()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ENGINE))
        try:
            yield Queries({}, jobs, module="copycat_fake_engine", deadline_seconds=deadline)
        finally:
            await jobs.close()


async def test_a_host_is_answered_rows_schemas_and_refusals() -> None:
    async with engine() as queries:
        ran = await queries.answer(pb.QueryWanted(sequence=1, sql="run", batch=b"abc"))
        prepared = await queries.answer(pb.QueryWanted(sequence=2, sql="prepare"))
        refused = await queries.answer(pb.QueryWanted(sequence=3, sql="refuse because"))

    assert (ran.sequence, ran.rows, ran.error) == (1, b"cba", "")
    assert (prepared.sequence, prepared.schema[:8], prepared.error) == (2, "made_by_", "")
    assert (refused.sequence, refused.error, refused.error_code) == (3, "because", "config.invalid")


async def test_one_engine_serves_all_queries_one_after_the_other() -> None:
    async with engine() as queries:
        assert await queries.prepare("a", "") == await queries.prepare("b", "")


async def test_a_query_that_hangs_is_ended_with_its_engine_and_the_next_one_runs() -> None:
    async with engine(deadline=1.0) as queries:
        before = await queries.prepare("a", "")
        with pytest.raises(ConnectError, match="did not finish within 1 s and was ended"):
            await queries.prepare("hang", "")
        assert await queries.prepare("a", "") != before


async def test_a_query_whose_engine_is_killed_is_run_again_by_another(tmp_path: Path) -> None:
    async with engine() as queries:
        before = await queries.prepare("a", "")
        after = await queries.prepare(f"die-once {tmp_path / 'died'}", "")
    assert before != after


async def test_a_query_that_kills_every_engine_fails_and_others_go_on() -> None:
    async with engine() as queries:
        with pytest.raises(ConnectError, match="ended during the query, more than once"):
            await queries.prepare("die", "")
        assert await queries.run("run", "", b"ab") == b"ba"
