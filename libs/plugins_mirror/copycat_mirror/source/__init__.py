"""MirrorSource: copies topics of another cluster."""
