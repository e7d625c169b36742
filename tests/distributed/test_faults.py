"""Every rank that survives raises within the time-out and names the rank or the call."""

import signal

import pytest
from ranks import Ranks


@pytest.fixture
def pair():
    ranks = Ranks(2)
    yield ranks
    ranks.stop()


def test_a_killed_rank_is_named(pair):
    for connection in pair.connections:
        connection.send(("faults.killed", ()))
    ok, (text, seconds) = pair._answer(0, "faults.killed")
    assert ok
    assert "rank 1" in text
    assert seconds < 30
    assert pair.processes[1].wait(10) == -signal.SIGKILL


@pytest.mark.parametrize("option", ["timeout", "op_timeout"])
def test_a_hanging_rank_ends_the_call(pair, option):
    (failure, later), _ = pair.run("faults.hanging", 2, option)
    text, seconds = failure
    assert "all_reduce" in text or "AllReduce" in text
    assert 1 < seconds < 15
    assert "time-out" in later


def test_a_peer_that_does_not_send_is_named(pair):
    (text, seconds), _ = pair.run("faults.absent_peer", 2)
    assert "from rank 1" in text
    assert 1 < seconds < 15


def test_different_sizes_are_an_error(pair):
    for text, seconds in pair.run("faults.different_sizes"):
        assert "4" in text, text
        assert "5" in text, text
        assert seconds < 15
