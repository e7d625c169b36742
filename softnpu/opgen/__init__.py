"""The operator library's C entry points and headers, written from the tables in softnpu/ops."""
