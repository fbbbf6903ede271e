"""What every part of a cluster calls by the same name: one definition a fact, the standard library only."""

from __future__ import annotations

from copycat_connect.cluster.instance import Instance, in_order

__all__ = ["Instance", "in_order"]
