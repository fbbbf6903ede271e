"""Every listener of a guarded system, and everybody it must refuse."""
