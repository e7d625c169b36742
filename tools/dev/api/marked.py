"""A plug-in of pytest for tests that name what they prove: ``@pytest.mark.api("torch.npu.synchronize")``.

``--api-index FILE`` writes which tests prove which names, as JSON, and runs none. ``--api-break NAME`` runs the tests
of NAME once as they are and once with the body of NAME replaced by ``return None``, and fails where they pass all the
same. ``--api-sample COUNT@SEED`` does so with COUNT names, other ones for each SEED.
"""

import json
import os
import random
import signal
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

from dev.api.breaking import VARIABLE, break_name, identity
from dev.api.coverage import status
from dev.api.reach import problem
from dev.api.table import LATER, names

# A broken function may keep a test waiting: longer than any test takes.
LIMIT_SECONDS = 60


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the three options."""
    parser.addoption("--api-index", metavar="FILE", help="writes which tests prove which names")
    parser.addoption("--api-break", action="append", default=[], metavar="NAME")
    parser.addoption("--api-sample", metavar="COUNT@SEED", help="breaks COUNT names, by SEED")


def proofs(items: Iterable[pytest.Item]) -> dict[str, list[pytest.Item]]:
    """The tests of each name that a mark has."""
    found: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        for mark in item.iter_markers("api"):
            for name in mark.args:
                found[name].append(item)
    return dict(found)


def unknown(found: Iterable[str]) -> list[str]:
    """The names that marks have, but not the package."""

    def is_there(name: str) -> bool:
        try:
            return bool(identity(name))
        except AttributeError:
            return False

    return sorted(name for name in found if not is_there(name))


def with_aliases(found: dict[str, list[pytest.Item]]) -> dict[str, list[pytest.Item]]:
    """The tests of each official name that there is; a test of one alias proves the others."""
    groups: dict[object, list[pytest.Item]] = defaultdict(list)
    for name, items in found.items():
        groups[identity(name)] += items
    there = [row.name for row in names() if status(row.name) != LATER and not problem(row)]
    known = {name: groups.get(identity(name), []) for name in (*there, *found)}
    return {name: items for name, items in known.items() if items}


def sample(known: Iterable[str], count: int, seed: int) -> list[str]:
    """``count`` of the names; consecutive seeds go through all of them."""
    order = sorted(known)
    random.Random(0).shuffle(order)
    start = seed * count % max(len(order), 1)
    return (order[start:] + order[:start])[:count]


def _forked(work: Callable[[], int]) -> int:
    """The exit code of ``work`` in a child process, negative for a signal that ended it."""
    sys.stdout.flush()
    sys.stderr.flush()
    if (child := os.fork()) == 0:
        code = 3
        try:
            code = work()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _fails(item: pytest.Item) -> bool:
    signal.alarm(LIMIT_SECONDS)
    reports = runtestprotocol(item, log=False, nextitem=None)
    return any(report.failed for report in reports if report.when != "teardown")


def _fails_broken(name: str, items: list[pytest.Item]) -> int:
    os.environ[VARIABLE] = name
    break_name(name)
    return int(any(_fails(item) for item in items))


def failing(items: Iterable[pytest.Item]) -> set[str]:
    """The node ids of the tests that fail as they are, and of those that end their process."""
    left = list({item.nodeid: item for item in items}.values())
    failed: set[str] = set()
    with tempfile.NamedTemporaryFile("r") as results:
        while left:
            _forked(lambda left=left: _record(left, Path(results.name)))
            found = [line.split("\t") for line in results.read().splitlines()]
            failed |= {nodeid for nodeid, failed_it in found if failed_it == "1"}
            if len(found) < len(left):
                failed.add(left[len(found)].nodeid)
            left = left[len(found) + 1 :]
    return failed


def _record(items: list[pytest.Item], results: Path) -> int:
    with results.open("a") as lines:
        for item in items:
            print(item.nodeid, int(_fails(item)), sep="\t", file=lines, flush=True)
    return 0


def survivors(known: dict[str, list[pytest.Item]], chosen: list[str]) -> list[str]:
    """A line for each of ``chosen`` whose tests do not show that it is broken."""
    import torch

    if torch.npu.is_initialized():
        return ["collecting the tests initialised the device: no test file may use it at import"]
    unhealthy = failing(item for name in chosen for item in known.get(name, []))
    lines = []
    for name in chosen:
        items = known.get(name, [])
        if not items:
            lines.append(f"{name}: no test")
        elif bad := [item.nodeid for item in items if item.nodeid in unhealthy]:
            lines.append(f"{name}: {bad[0]} fails as it is")
        elif _forked(lambda name=name, items=items: _fails_broken(name, items)) == 0:
            tests = sorted({item.nodeid.split("[")[0] for item in items})
            lines.append(f"{name}: {', '.join(tests)} passed without it")
    return lines


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Writes the index or breaks names instead of running the tests, if an option says so."""
    options = session.config.option
    if not (options.api_index or options.api_break or options.api_sample):
        return None
    if session.testsfailed:
        raise session.Interrupted("the tests could not be collected")
    found = proofs(session.items)
    if bad := unknown(found):
        tests = ", ".join(f"{name} ({found.pop(name)[0].nodeid})" for name in bad)
        session.config.get_terminal_writer().line(f"marks name what is not there: {tests}")
        session.testsfailed = len(bad)
    known = with_aliases(found)
    if options.api_index:
        tests = {name: [item.nodeid for item in items] for name, items in known.items()}
        Path(options.api_index).write_text(json.dumps(tests))
        return True
    chosen = list(options.api_break)
    if options.api_sample:
        count, seed = map(int, options.api_sample.split("@"))
        chosen += sample(known, count, seed)
    lines = survivors(known, chosen)
    report = session.config.get_terminal_writer()
    for line in (
        *lines,
        f"broken: {len(chosen)}, noticed by their tests: {len(chosen) - len(lines)}",
    ):
        report.line(line)
    session.testsfailed += len(lines)
    return True
