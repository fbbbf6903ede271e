"""What an offset is and who may move it: pure decisions around the offsets topic."""
