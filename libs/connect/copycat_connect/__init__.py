"""The connector SDK: what a connector author imports. The standard library, and regex for patterns."""
