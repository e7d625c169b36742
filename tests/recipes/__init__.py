"""The recipes of CONTRIBUTING.md, followed step by step in a copy of the files that they name."""
