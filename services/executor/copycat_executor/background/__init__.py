"""Work in the background of the event loop: jobs, whose crash ends the executor, and signals of changes."""
