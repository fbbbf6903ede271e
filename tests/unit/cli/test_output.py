"""How answers look in a pipe and on a terminal."""

from __future__ import annotations

import io

from copycat_cli.output.blocks import Block, Lines, Table
from copycat_cli.output.plain import plain
from copycat_cli.output.pretty import pretty
from rich.console import Console

STATES = Table(("NAME", "STATE"), [("a", "RUNNING"), ("[b]", "1 FAILED, 2 RUNNING")], "States")


def on_terminal(*blocks: Block) -> str:
    shown = io.StringIO()
    Console(file=shown, force_terminal=True, width=60, color_system="standard").print(pretty(blocks))
    return shown.getvalue()


def test_a_row_of_a_pipe_is_one_line_whatever_is_in_it() -> None:
    assert plain([Table(("K", "V"), [("key", "one\ntwo  three\t"), ("k", "")])]) == (
        "K    V\nkey  one\\ntwo  three\\t\nk"
    )


def test_blocks_of_a_pipe_are_parted_by_one_blank_line() -> None:
    assert plain([Lines(["a"], "A"), Lines([]), Table(("K",), [], empty="none")]) == "A\na\n\nnone"


def test_states_of_a_terminal_are_coloured_by_the_worst_of_them() -> None:
    shown = on_terminal(STATES)
    assert "\x1b[32mRUNNING" in shown
    assert "\x1b[1;31m1 FAILED, 2 RUNNING" in shown


def test_what_looks_like_markup_is_shown_as_it_is() -> None:
    assert "[b]" in on_terminal(STATES)
    assert "[red]" in on_terminal(Lines(["[red]x"], "[red]"))
