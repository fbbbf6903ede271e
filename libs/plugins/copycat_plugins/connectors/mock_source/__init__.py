"""MockSource: reads nothing, and fails on order."""
