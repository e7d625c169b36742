"""Generates the operator library's C entry points and headers from the tables in softnpu/ops."""
