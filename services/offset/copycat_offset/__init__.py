"""The offset service: source offsets and sink consumer group offsets."""
