"""What this worker tells about its connectors, its tasks and itself."""
