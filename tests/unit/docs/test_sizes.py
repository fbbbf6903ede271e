"""Modules that are too short to stand alone are found, and others are not."""

from __future__ import annotations

import grimp

from tools.check_size import splinters


def test_a_short_module_that_one_neighbour_alone_imports_is_found() -> None:
    graph = grimp.ImportGraph()
    for importer, imported in (
        ("a.room.door", "a.room.hinge"),
        ("a.room.door", "a.room.frame"),
        ("a.room.window", "a.room.frame"),
        ("a.house", "a.room.window"),
        ("a.room.door", "a.room.settings"),
        ("a.room.door", "a.room.wall"),
    ):
        graph.add_import(importer=importer, imported=imported)
    lines = dict.fromkeys(graph.modules, 20) | {"a.room.wall": 80}

    assert list(splinters(graph, lines)) == [("a.room.hinge", "a.room.door")]
