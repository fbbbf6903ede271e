"""HTTP itself: listeners, paths, media types, deadlines, documentation."""
