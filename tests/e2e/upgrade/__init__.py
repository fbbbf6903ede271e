"""From the last release to this tree, and back, while people use it."""
