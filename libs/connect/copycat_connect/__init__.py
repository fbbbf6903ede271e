"""The connector SDK: what a connector author imports. Standard library only."""
