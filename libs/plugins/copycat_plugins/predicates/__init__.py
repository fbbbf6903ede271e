"""Predicates, one file each."""
