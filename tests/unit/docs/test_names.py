"""Public class names that several modules have are found, and others are not."""

from __future__ import annotations

from tools.check_names import repeated


def test_a_name_is_repeated_where_several_modules_have_it_in_public() -> None:
    modules = [
        ("a.py", "class Health: ...\nclass _Own: ...\nclass Outer:\n    class Inner: ...\n"),
        ("b.py", "class Health: ...\nclass _Own: ...\nclass Inner: ...\n"),
        ("c.py", "class Other: ...\n"),
    ]

    assert repeated(modules) == {"Health": ["a.py", "b.py"]}
