"""Tests that follow the recipes of CONTRIBUTING.md step by step in a copy of the files that they name."""
