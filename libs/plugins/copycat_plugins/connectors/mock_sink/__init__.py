"""MockSink: writes nothing, and fails on order."""
