"""Processes of one job that stay and run functions of ``tests/distributed/checks`` together, one of each rank."""

import os
import socket
import subprocess
import sys
from multiprocessing.connection import Connection, Pipe
from pathlib import Path

WORKER = Path(__file__).with_name("worker.py")
# Seconds: a test that takes so long hangs.
LONGEST = 120


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def environment(rank: int, ranks: int, port: int) -> dict[str, str]:
    """The variables that torchrun sets."""
    return {
        **os.environ,
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(ranks),
        "LOCAL_WORLD_SIZE": str(ranks),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
    }


class Ranks:
    """``count`` processes with a default process group each."""

    def __init__(self, count: int, **variables: str) -> None:
        self.count = count
        port = free_port()
        self.connections: list[Connection] = []
        self.processes: list[subprocess.Popen] = []
        for rank in range(count):
            own, theirs = Pipe()
            self.processes.append(
                subprocess.Popen(
                    [sys.executable, str(WORKER), str(theirs.fileno())],
                    env={**environment(rank, count, port), **variables},
                    pass_fds=[theirs.fileno()],
                )
            )
            theirs.close()
            self.connections.append(own)

    def run(self, name: str, *args: object) -> list:
        """What ``checks.<module>.<function>(*args)`` returns on each rank; ``name`` is ``module.function``.

        Raises:
            AssertionError: on some rank it raised; the text has the trace of each.
        """
        for connection in self.connections:
            connection.send((name, args))
        answers = [self._answer(rank, name) for rank in range(self.count)]
        failures = [text for ok, text in answers if not ok]
        if failures:
            raise AssertionError("\n".join(failures))
        return [value for _, value in answers]

    def _answer(self, rank: int, name: str) -> tuple[bool, object]:
        connection = self.connections[rank]
        try:
            if connection.poll(LONGEST):
                return connection.recv()
        except EOFError:
            return False, f"rank {rank} ended in {name} with {self.processes[rank].wait(10)}"
        self.stop()
        return False, f"rank {rank} does not answer: {name} hangs"

    def close(self) -> None:
        """Ends the processes as a program would."""
        for connection in self.connections:
            try:
                connection.send(None)
            except OSError:
                continue
        codes = []
        for process in self.processes:
            try:
                codes.append(process.wait(LONGEST))
            except subprocess.TimeoutExpired:
                process.kill()
                codes.append("killed: it did not end")
        assert codes == [0] * self.count

    def stop(self) -> None:
        """Ends them at once."""
        for process in self.processes:
            process.kill()
            process.wait()
