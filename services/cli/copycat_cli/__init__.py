"""The command line against a running cluster, over its REST interface."""
