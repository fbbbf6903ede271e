"""The documentation as a site: the repository's Markdown files, and reference pages made from the code."""
