"""Transformations, one file each; a file that two share is named after what it does."""
