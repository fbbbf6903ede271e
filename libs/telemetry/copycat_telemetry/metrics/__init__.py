"""Metrics: their definitions, their sources in a process, and the windows they are computed over."""
