"""MirrorHeartbeat: signs of life of the way between two clusters."""
