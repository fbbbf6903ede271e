"""Converters, one file each."""
