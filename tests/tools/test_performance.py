"""docs/performance.md: its rows, its machines, and how a run's results are taken over."""

import json

import pytest
from dev import performance
from dev.bench import SUITES
from dev.performance import Machine, Row, document, read_machine, read_rows, take_over
from dev.run import DevError

ROW = Row("add, mul", ("ops", "matmul"), "cpu", ("add", "mul"))


def test_the_document_is_that_of_the_tables():
    written = document(read_rows(), performance.machines())
    assert performance.DOCUMENT.read_text() == written, "./dev bench tables writes it"


def test_rows_name_suites_of_the_bench_and_no_work_twice():
    works = [(s, w, row.against) for row in read_rows() for s in row.suites for w in row.works]
    assert {suite for suite, _, _ in works} <= SUITES.keys()
    assert len(works) == len(set(works))


def test_every_measurement_of_a_machine_is_in_a_row():
    known = {(s, w, row.against) for row in read_rows() for s in row.suites for w in row.works}
    for machine in performance.machines():
        assert machine.ratios.keys() <= known
        assert machine.about["machine"]


def test_each_machine_has_all_rows_and_dashes():
    machines = [
        Machine({"machine": "one", "runs": "3"}, {("matmul", "mul", "cpu"): "0.50"}),
        Machine({"machine": "two"}, {("ops", "add", "cpu"): "1.20"}),
    ]
    text = document([ROW], machines)
    assert "## one\nruns 3\n" in text
    assert "| add, mul | cpu | –, 0.50 | `./dev bench ops` |" in text
    assert "| add, mul | cpu | 1.20, – | `./dev bench ops` |" in text


@pytest.fixture
def result(tmp_path):
    def write(*rows):
        machine = {"processor": "P", "threads": "2", "torch": "2.13.0", "load": "0.1"}
        fields = ("suite", "work", "against", "ratio")
        data = {"machine": machine, "rows": [dict(zip(fields, row, strict=True)) for row in rows]}
        path = tmp_path / "result.json"
        path.write_text(json.dumps(data))
        return path

    return write


def test_a_run_replaces_its_suites_and_leaves_others(result, tmp_path, monkeypatch):
    monkeypatch.setattr(performance, "ROOT", tmp_path)
    monkeypatch.setattr(performance, "MEASURED", tmp_path)
    file = tmp_path / "m.tsv"
    file.write_text("# machine: old\nops\tadd\tcpu\t0.10\nmatmul\tmul\tcpu\t0.20\n")
    take_over(result(("ops", "add", "cpu", 0.456), ("ops", "other", "cpu", 9.0)), "m", [ROW])
    found = read_machine(file)
    assert found.about["machine"] == "P, 2 threads"
    assert found.ratios == {("ops", "add", "cpu"): "0.46", ("matmul", "mul", "cpu"): "0.20"}


def test_a_run_without_a_row_is_refused(result):
    with pytest.raises(DevError, match=r"measured no row of bench/rows\.tsv"):
        take_over(result(("ops", "other", "cpu", 1.0)), "m", [ROW])


@pytest.mark.parametrize("read", [read_rows, read_machine])
def test_a_line_with_other_columns_is_named(read, tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("# a: b\nadd\tops\n")
    with pytest.raises(DevError, match=r"x\.tsv:2: four columns"):
        read(path)
