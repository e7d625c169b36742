"""The rewrites, one a file."""
