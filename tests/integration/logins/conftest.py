"""One broker with every login, and the endpoint that gives tokens for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.integration.logins.broker import Broker, broker_of_all_logins
from tests.integration.logins.token_server import TokenServer, token_server


@pytest.fixture(scope="package")
def tokens() -> Iterator[TokenServer]:
    with token_server() as running:
        yield running


@pytest.fixture(scope="package")
def broker(tokens: TokenServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with broker_of_all_logins(tmp_path_factory.mktemp("logins"), tokens) as running:
        yield running
