"""For how long the status service believes what workers say of troubles."""

from __future__ import annotations

from copycat.status.v1 import status_service_pb2 as pb
from copycat_connect.cluster import Instance
from copycat_status.adapters.server import FORGOTTEN_AFTER_SECONDS, TroublesNow

TASK = Instance("orders", 0)


class Clock:
    """A clock that stands still."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def told(worker: str = "h:1", generation: int = 7, text: str = "here") -> pb.ReportTroublesRequest:
    trouble = pb.Trouble(
        connector="orders", task=0, generation=generation, kind=pb.TROUBLE_KIND_HANGS, text=text
    )
    return pb.ReportTroublesRequest(worker_id=worker, troubles=[trouble])


def test_what_is_not_repeated_is_forgotten() -> None:
    clock = Clock()
    troubles = TroublesNow(clock)
    troubles.tell(told())
    clock.now = FORGOTTEN_AFTER_SECONDS - 1
    assert TASK in troubles.now()
    troubles.tell(told())
    clock.now += FORGOTTEN_AFTER_SECONDS - 1
    assert TASK in troubles.now()
    clock.now += 1
    assert not troubles.now()


def test_a_worker_takes_back_what_it_said() -> None:
    troubles = TroublesNow(Clock())
    troubles.tell(told())
    troubles.tell(told("h:2", text="there"))
    troubles.tell(pb.ReportTroublesRequest(worker_id="h:1"))
    assert troubles.now()[TASK].text == "there"


def test_the_newest_generation_counts_whoever_spoke_last() -> None:
    troubles = TroublesNow(Clock())
    troubles.tell(told("h:2", generation=8, text="new"))
    troubles.tell(told("h:1", generation=7, text="old"))
    assert troubles.now()[TASK].text == "new"


def test_troubles_of_a_kind_that_is_not_known_are_left_out() -> None:
    troubles = TroublesNow(Clock())
    troubles.tell(pb.ReportTroublesRequest(worker_id="h:1", troubles=[pb.Trouble(connector="orders")]))
    assert not troubles.now()
