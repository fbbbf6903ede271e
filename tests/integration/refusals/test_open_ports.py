"""As `copycat up` comes, with four services in one process: nothing listens but what is documented."""

from __future__ import annotations

import pytest
from copycat_launcher.roles import SERVICES as OWNERS

from tests.integration.listening import LOOPBACK, SERVICES, documented, hosts, listening, ports_by_kind
from tests.integration.refusals.guarded import Guarded

pytestmark = [pytest.mark.timeout(300), pytest.mark.long]


def test_services_that_share_a_process_listen_where_each_would(guarded: Guarded) -> None:
    found = listening(guarded.pid)
    of_each = dict(documented())
    together = {SERVICES: sum(of_each.pop(role.name) for role in OWNERS), **of_each}

    assert ports_by_kind(found) == together
    assert hosts(found) <= LOOPBACK
    assert {int(guarded.address(role.name).rpartition(":")[2]) for role in OWNERS} <= {
        port for _, port in found[SERVICES]
    }
