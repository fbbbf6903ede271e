"""The loop that sends until it works: what it tries again, what it gives up, what it logs."""

from __future__ import annotations

import pytest
from copycat_connect.errors import CopycatError, StaleGenerationError, UnavailableError
from copycat_connect.retry import RetryPolicy
from copycat_executor.outbox.until_it_works import SILENT_FAILURES, until_it_works

AT_ONCE = RetryPolicy(first=0.0, factor=1.0, ceiling=0.0)


class Service:
    """Fails as often as it is told, then answers."""

    def __init__(self, *failures: CopycatError) -> None:
        self.failures = list(failures)

    async def call(self) -> str:
        if self.failures:
            raise self.failures.pop(0)
        return "taken"


async def test_what_fails_for_now_is_tried_again_until_it_works(caplog: pytest.LogCaptureFixture) -> None:
    service = Service(*(UnavailableError("away") for _ in range(SILENT_FAILURES - 1)))
    assert await until_it_works(service.call, AT_ONCE, complaint="nobody takes it") == "taken"
    assert caplog.text == ""


async def test_a_service_that_stays_away_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    service = Service(*(UnavailableError("away") for _ in range(3 * SILENT_FAILURES)))
    assert await until_it_works(service.call, AT_ONCE, complaint="nobody takes it") == "taken"
    assert [record.getMessage() for record in caplog.records] == ["nobody takes it: away"]


async def test_what_is_refused_for_good_is_raised_at_once() -> None:
    service = Service(StaleGenerationError("old"), UnavailableError("away"))
    with pytest.raises(StaleGenerationError):
        await until_it_works(service.call, AT_ONCE)
    assert len(service.failures) == 1


async def test_the_caller_may_have_every_error_tried_again() -> None:
    service = Service(CopycatError("refused"), CopycatError("refused"))
    assert await until_it_works(service.call, AT_ONCE, passes=lambda _: True) == "taken"


async def test_the_caller_may_have_every_failure_logged(caplog: pytest.LogCaptureFixture) -> None:
    service = Service(UnavailableError("away"), UnavailableError("busy"))
    await until_it_works(service.call, AT_ONCE, complaint="nobody takes it", log_every_failure=True)
    assert [record.getMessage() for record in caplog.records] == [
        "nobody takes it: away",
        "nobody takes it: busy",
    ]
