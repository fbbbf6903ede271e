"""Connectors, one room each."""
