"""Messages of a state are made once for as long as their facts stand."""

from __future__ import annotations

from dataclasses import dataclass

from copycat_serving.rendering import Rendering


@dataclass(frozen=True)
class Facts:
    """What is known under a name; equal facts need not be the same."""

    text: str | None


def made(name: str, facts: Facts) -> list[str] | None:
    return None if facts.text is None else [name, facts.text]


def test_messages_are_listed_by_name_without_those_that_show_nothing() -> None:
    rendering = Rendering(made)

    assert rendering.messages({"b": Facts("2"), "hidden": Facts(None), "a": Facts("1")}) == [
        ["a", "1"],
        ["b", "2"],
    ]


def test_only_what_changed_is_made_again() -> None:
    rendering, kept = Rendering(made), Facts("1")
    before = rendering.messages({"a": kept, "b": Facts("2"), "c": Facts("3")})

    after = rendering.messages({"a": kept, "b": Facts("new")})

    assert after == [["a", "1"], ["b", "new"]]
    assert after[0] is before[0]


def test_a_name_that_comes_back_is_made_anew() -> None:
    rendering = Rendering(made)
    rendering.messages({"a": Facts("1")})
    rendering.messages({})

    assert rendering.messages({"a": Facts("2")}) == [["a", "2"]]
