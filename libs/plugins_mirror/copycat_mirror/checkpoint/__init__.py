"""MirrorCheckpoint: where groups of the source go on at the target."""
