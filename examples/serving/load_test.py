"""A load test of a server with OpenAI's interface on this machine: `vllm serve` with vllm-ascend on npu.

python examples/serving/load_test.py --model FOLDER --clients 32
"""

import argparse
import http.client
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

HOST = "127.0.0.1"
NAME = "model"
PROMPTS = ("The capital of France is", "The sea is", "Once upon a time", "One of the rivers")


@dataclass
class Server:
    """A server of this machine. ``post`` and ``metric`` are requests; the process is that of :func:`serve`."""

    port: int
    process: subprocess.Popen[bytes]

    def post(self, body: dict[str, object], timeout: float = 600) -> tuple[int, dict[str, object]]:
        """Status and answer of one completion; raises OSError if the connection is lost."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=timeout)
        connection.request(
            "POST",
            "/v1/completions",
            json.dumps({"model": NAME, **body}),
            {"Content-Type": "application/json"},
        )
        answer = connection.getresponse()
        status, text = answer.status, answer.read()
        connection.close()
        return status, json.loads(text)

    def metric(self, name: str) -> float:
        """The sum of a metric's values over its labels."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=60)
        connection.request("GET", "/metrics")
        lines = connection.getresponse().read().decode().splitlines()
        connection.close()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(name + "{"))

    def is_ready(self) -> bool:
        """Whether it answers.

        Raises:
            RuntimeError: the process has ended.
        """
        if self.process.poll() is not None:
            raise RuntimeError(
                f"the server ended with {self.process.returncode} before it was ready"
            )
        try:
            connection = http.client.HTTPConnection(HOST, self.port, timeout=5)
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except OSError:
            return False

    def wait_until_idle(self, seconds: float = 120) -> None:
        """Waits until no request runs and no block of the cache is used.

        Raises:
            TimeoutError: there are some after ``seconds``.
        """
        names = (
            "vllm:num_requests_running",
            "vllm:num_requests_waiting",
            "vllm:kv_cache_usage_perc",
        )
        end = time.monotonic() + seconds
        while any(values := [self.metric(name) for name in names]):
            if time.monotonic() > end:
                raise TimeoutError(
                    f"the server is not idle: {dict(zip(names, values, strict=True))}"
                )
            time.sleep(0.2)


def free_port() -> int:
    """A port of the loopback interface that nothing uses now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def command(model: Path, port: int, *options: str) -> list[str]:
    """The server's command line: float32, eager, as many sequences as clients."""
    return [
        *(sys.executable, "-m", "vllm.entrypoints.cli.main", "serve", str(model)),
        *("--host", HOST, "--port", str(port), "--served-model-name", NAME),
        *("--dtype", "float32", "--enforce-eager", "--gpu-memory-utilization", "0.1"),
        *options,
    ]


@contextmanager
def serve(model: Path, *options: str, log: Path | None = None) -> Iterator[Server]:
    """A server of ``model``, until the end of the block.

    Raises:
        RuntimeError: it ended before it answered, or did not answer within ten minutes.
    """
    port = free_port()
    output = log.open("wb") if log else subprocess.DEVNULL
    env = {**os.environ, "TRITON_INTERPRET": "1", "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"}
    process = subprocess.Popen(
        command(model, port, *options), stdout=output, stderr=subprocess.STDOUT, env=env
    )
    server = Server(port, process)
    try:
        end = time.monotonic() + 600
        while not server.is_ready():
            if time.monotonic() > end:
                raise RuntimeError("the server did not answer within ten minutes")
            time.sleep(1)
        yield server
    finally:
        if process.poll() is None:
            process.terminate()
        try:
            process.wait(120)
        except subprocess.TimeoutExpired:
            process.kill()


@dataclass
class Load:
    """What the clients of :func:`run_clients` saw."""

    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)
    tokens: int = 0
    lost: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """Two lines."""
        p95 = statistics.quantiles(self.latencies, n=20)[-1] if len(self.latencies) > 1 else 0.0
        return (
            f"{len(self.latencies)} answers, {len(self.lost)} lost, in {self.seconds:.1f} s\n"
            f"{self.tokens / max(self.seconds, 1e-9):.1f} tokens/s, p50 "
            f"{statistics.median(self.latencies or [0.0]):.2f} s, p95 {p95:.2f} s"
        )


def run_clients(server: Server, clients: int, requests: int, tokens: int) -> Load:
    """``clients`` threads send ``requests`` completions of ``tokens`` tokens each, one after the other."""
    load = Load()
    lock = threading.Lock()

    def client(number: int) -> None:
        for request in range(requests):
            prompt = PROMPTS[(number + request) % len(PROMPTS)]
            body = {"prompt": prompt, "max_tokens": tokens, "temperature": 0, "ignore_eos": True}
            begin = time.perf_counter()
            try:
                status, answer = server.post(body)
                usage = answer["usage"] if status == 200 else None
            except (OSError, ValueError) as error:
                status, usage, answer = 0, None, {"error": str(error)}
            with lock:
                if isinstance(usage, dict):
                    load.latencies.append(time.perf_counter() - begin)
                    load.tokens += int(usage["completion_tokens"])
                else:
                    load.lost.append(f"{status}: {answer}")

    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
    begin = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    load.seconds = time.perf_counter() - begin
    return load


def kill_a_client(server: Server, tokens: int) -> None:
    """Asks for ``tokens`` tokens as a stream, and closes the connection after the first."""
    connection = http.client.HTTPConnection(HOST, server.port, timeout=600)
    body = {"model": NAME, "prompt": PROMPTS[1], "max_tokens": tokens, "stream": True}
    body["ignore_eos"] = True
    connection.request(
        "POST", "/v1/completions", json.dumps(body), {"Content-Type": "application/json"}
    )
    answer = connection.getresponse()
    answer.readline()
    answer.close()
    connection.close()


def drain(server: Server, tokens: int, seconds: float = 300) -> tuple[int, int]:
    """Sends SIGTERM while a request runs. Gives the request's status and the server's exit code."""
    result: list[int] = []
    body = {"prompt": PROMPTS[0], "max_tokens": tokens, "ignore_eos": True}

    def request() -> None:
        try:
            result.append(server.post(body)[0])
        except (OSError, http.client.HTTPException):
            result.append(0)

    thread = threading.Thread(target=request)
    thread.start()
    while thread.is_alive() and not server.metric("vllm:num_requests_running"):
        time.sleep(0.1)
    server.process.send_signal(signal.SIGTERM)
    thread.join(seconds)
    return result[0] if result else 0, server.process.wait(seconds)


def main() -> int:
    """Runs the test; 1 if an answer was lost."""
    parser = argparse.ArgumentParser(description="A load test of vllm serve on npu.")
    parser.add_argument("--model", type=Path, required=True, help="of examples/serving/weights.py")
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--requests", type=int, default=1, help="of each client")
    parser.add_argument("--tokens", type=int, default=4, help="of each answer")
    parser.add_argument("--log", type=Path, help="a file for what the server prints")
    given = parser.parse_args()
    options = ["--max-model-len", "64", "--max-num-batched-tokens", "32"]
    options += ["--max-num-seqs", str(min(given.clients, 64)), "--shutdown-timeout", "120"]
    with serve(given.model, *options, log=given.log) as server:
        load = run_clients(server, given.clients, given.requests, given.tokens)
        print(load)
        kill_a_client(server, 48)
        server.wait_until_idle()
        print("a client was killed: its blocks are free")
        status, answer = server.post({"prompt": "sea " * 100, "max_tokens": 4})
        print(f"a prompt that is too long: {status} {answer['error']['message']}")
        status, code = drain(server, 8)
        print(f"SIGTERM: the running request ended with {status}, the server with {code}")
    return 1 if load.lost or status != 200 else 0


if __name__ == "__main__":
    sys.exit(main())
