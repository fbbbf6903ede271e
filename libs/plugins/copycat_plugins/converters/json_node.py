"""A node: parsed JSON."""

from __future__ import annotations

from typing import Any, TypeAlias

Node: TypeAlias = Any
"""Parsed JSON: None, bool, int, float, Decimal, str, list or dict."""
