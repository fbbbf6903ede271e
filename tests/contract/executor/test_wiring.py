"""The process of the connectors runs before there is an executor whose connectors it could hold."""

from __future__ import annotations

import asyncio
import logging

import pytest
from copycat_executor.background import Jobs
from copycat_executor.children.template import Template


async def test_a_process_that_dies_before_anybody_listens_is_started_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    jobs, process = Jobs(), Template({})
    jobs.spawn(process.run(), "process of the connectors")
    try:
        async with asyncio.timeout(60):
            await process.loaded()
            with caplog.at_level(logging.WARNING):
                process.kill()
                await process.loaded()
        assert "the process of the connectors ended (exit code -9) and is started again" in caplog.text
        crash = asyncio.create_task(jobs.crashed())
        done, _ = await asyncio.wait((crash,), timeout=0)
        crash.cancel()
        assert not done
    finally:
        await jobs.close()
