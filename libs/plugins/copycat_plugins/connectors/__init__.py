"""Connectors, each in a package of its own."""
