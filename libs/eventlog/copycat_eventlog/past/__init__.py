"""The changes topic: what happened, when, and who asked for it, also where compaction forgets it."""
