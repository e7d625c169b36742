"""Tests of the Python API: each says by the mark ``api`` which names it proves."""

from dev.api.marked import pytest_addoption, pytest_runtestloop  # noqa: F401  (hooks)
