"""When a consumer that returns nothing is taken for stuck."""

from copycat_executor.kafka.silent_consumer import Doubts, Look

PATIENCE = 15.0
HEALTHY = Look(end=7, fetched_end=7)
NEVER_FETCHED = Look(end=0, fetched_end=-1001)
BEHIND = Look(end=9, fetched_end=7)


def verdicts(*looks: tuple[float, Look]) -> list[bool]:
    doubts = Doubts(PATIENCE)
    return [doubts.weigh(look, at) is not None for at, look in looks]


def test_a_consumer_whose_fetches_know_the_end_is_left_alone_for_ever() -> None:
    assert verdicts((0, HEALTHY), (1000, HEALTHY), (2000, HEALTHY)) == [False] * 3


def test_a_consumer_is_given_up_only_when_doubts_lasted() -> None:
    for doubtful in (BEHIND, NEVER_FETCHED):
        assert verdicts((0, doubtful), (10, doubtful), (20, doubtful)) == [False, False, True]


def test_one_look_that_finds_it_healthy_ends_all_doubts() -> None:
    looks = ((0, BEHIND), (10, HEALTHY), (20, BEHIND), (30, BEHIND), (40, BEHIND))
    assert verdicts(*looks) == [False, False, False, False, True]


def test_a_consumer_ahead_of_what_the_brokers_say_is_healthy() -> None:
    # With isolation.level=read_committed the brokers' answer is the end of what is committed.
    assert verdicts((0, Look(end=5, fetched_end=9)), (100, Look(end=5, fetched_end=9))) == [False, False]


def test_records_end_all_doubts() -> None:
    doubts = Doubts(PATIENCE)
    doubts.weigh(BEHIND, 0)
    doubts.clear()
    assert doubts.weigh(BEHIND, 20) is None


def test_the_reason_names_the_offsets() -> None:
    assert BEHIND.doubt == "it ends at 9, but the last fetch knew of 7"
    assert NEVER_FETCHED.doubt == "it ends at 0, but no fetch was answered"
