"""Each row of a KIP that has a page is shown by a test that carries it, or listed as not shown yet."""

from __future__ import annotations

import ast

import pytest

from tests.rows import TABLES, carriers, demands_more, listed, shown, with_tests

ROWS = {
    "K26": {f"K26-{row:02}" for row in range(1, 97)},
    "K875": {
        *(f"K875-{row:02}" for row in range(1, 49)),
        *(f"K875-T{row:02}" for row in range(1, 23)),
    },
    "KRETRY": {
        *(f"KRETRY-{row:02}" for row in range(1, 28)),
        *(f"KRETRY-T{row:02}" for row in range(1, 11)),
    },
}


@pytest.mark.parametrize("kip", ROWS)
def test_every_row_is_shown_or_listed_as_not_yet(kip: str) -> None:
    claimed, later = listed(TABLES[kip].read_text("utf-8"))

    assert sorted({*claimed, *later}) == sorted(ROWS[kip])
    assert len(claimed) == len(set(claimed))
    assert sorted(claimed) == sorted(row for row in shown(kip, carriers()) if row in ROWS[kip])


@pytest.mark.parametrize("kip", ROWS)
def test_a_page_names_the_tests_that_carry_its_rows(kip: str) -> None:
    page = TABLES[kip].read_text("utf-8")
    assert page == with_tests(page, shown(kip, carriers())), "write it anew: python -m tests.rows"


@pytest.mark.parametrize("kip", ROWS)
def test_every_row_is_shown_by_a_test_that_is_not_long(kip: str) -> None:
    always = shown(kip, [carrier for carrier in carriers() if not carrier.long])

    assert sorted(set(shown(kip, carriers())) - set(always)) == []


def test_a_test_that_carries_a_rowdemands_more_more_than_a_status() -> None:
    assert [carrier.name for carrier in carriers() if not carrier.proves] == []


@pytest.mark.parametrize(
    ("body", "demands"),
    [
        ("assert reply.status_code == 200", False),
        ("assert {each.status_code for each in replies} == {204}", False),
        ("call('DELETE')", False),
        ("assert reply.json() == {}", True),
        ("assert (reply.status_code, reply.content) == (200, b'')", True),
        ("wait_until(lambda: there, 60, 'it')", True),
        ("helper()", True),
    ],
)
def test_what_counts_as_a_demand(body: str, demands: bool) -> None:  # a table
    assert demands_more(ast.parse(body), {"helper"}) is demands
