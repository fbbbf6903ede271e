"""Metrics: what there is to know, who tells it, and the windows it is computed over."""
