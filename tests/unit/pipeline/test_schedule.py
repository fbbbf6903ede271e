"""When offset commits are due."""

from copycat_executor.pipeline.task.schedule import CommitSchedule


def test_the_first_data_is_committed_soon() -> None:
    schedule = CommitSchedule(5.0, now=0.0)
    schedule.note_data(1.0)
    schedule.note_data(1.4)

    assert schedule.due_in(1.0) == 0.5
    assert schedule.due_in(1.5) == 0.0


def test_a_steady_stream_is_committed_at_the_interval() -> None:
    schedule = CommitSchedule(5.0, now=0.0)
    schedule.note_data(0.0)
    schedule.done(0.5)
    schedule.note_data(0.6)

    assert schedule.due_in(0.6) == 4.9


def test_data_after_a_rest_is_committed_soon() -> None:
    schedule = CommitSchedule(5.0, now=0.0)
    schedule.note_data(0.0)
    schedule.done(0.5)
    schedule.note_data(60.0)

    assert schedule.due_in(60.0) == 0.5


def test_without_data_a_commit_is_due_at_the_interval() -> None:
    assert CommitSchedule(5.0, now=0.0).due_in(2.0) == 3.0


def test_a_requested_commit_is_due_at_once_and_only_once() -> None:
    schedule = CommitSchedule(5.0, now=0.0)
    schedule.request()
    assert schedule.due_in(0.0) == 0.0

    schedule.done(0.0)

    assert schedule.due_in(0.0) == 5.0
