"""Character classes of Java's regular expressions: unions (`[a[bc]]`) and intersections (`[a-z&&[^b]]`).

Python's classes know neither, so a class that uses them becomes a group that matches one character.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

ANY = r"[\s\S]"


@dataclass(slots=True)
class _Union:
    """Contents of one operand of `&&`."""

    contents: str = ""
    """What a class of Python's can hold."""
    nested: list[str] = field(default_factory=list)
    """Expressions of one character each."""

    def expression(self) -> str:
        own = [f"[{self.contents}]"] if self.contents else []
        return "|".join(own + self.nested) or "(?!)"


def translate_class(pattern: str, start: int, token: Callable[[int], tuple[str, int]]) -> tuple[str, int]:
    """Translate the class that opens at `start`; also returns the place behind it.

    `token` translates what stands at a place inside of a class, and says where it ends. A class that is never
    closed is given back as it is, for Python's engine to complain about.
    """
    place = start + 1
    negated = pattern.startswith("^", place)
    place += negated
    operands, first = [_Union()], place
    while place < len(pattern):
        if pattern[place] == "]" and place > first:
            return _expression(operands, negated=negated), place + 1
        if pattern[place] == "[":
            inner, place = translate_class(pattern, place, token)
            operands[-1].nested.append(inner)
        elif pattern.startswith("&&", place):
            operands.append(_Union())
            place += 2
        else:
            text, place = token(place)
            if text.startswith("["):
                operands[-1].nested.append(text)
            else:
                operands[-1].contents += "\\]" if text == "]" else text
    return pattern[start:], len(pattern)


def _expression(operands: list[_Union], *, negated: bool) -> str:
    only = operands[0]
    if len(operands) == 1 and not only.nested:
        return f"[{'^' if negated else ''}{only.contents}]"
    ahead = "".join(f"(?={operand.expression()})" for operand in operands)
    return f"(?:(?!{ahead}){ANY})" if negated else f"(?:{ahead}{ANY})"
