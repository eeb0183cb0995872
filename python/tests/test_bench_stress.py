"""`xoff bench stress`: choice of cases, figures derived from times, and the table."""

import json
import subprocess
from types import SimpleNamespace

import pytest

from xoff import bench_stress, engine
from xoff.bench_stress import Row
from xoff.cli import main
from xoff.errors import UsageError

SHAPES = [("queue", "bytes in a queue"), ("rtt", "round-trip time")]
PRESETS = [("bfc", "BFC"), ("dctcp", "DCTCP")]


@pytest.fixture(autouse=True)
def two_shapes(monkeypatch):
    monkeypatch.setattr(engine, "stress_shapes", lambda: (SHAPES, [1, 10, 100]))
    monkeypatch.setattr(engine, "presets", lambda: PRESETS)


def answers(monkeypatch, ns):
    """Let each case take `ns[case]` per packet-hop; a string is a refusal, None takes too long."""

    def run(command, **_):
        found = ns[command[4]]
        if found is None:
            raise subprocess.TimeoutExpired(command, 1)
        if isinstance(found, str):
            return SimpleNamespace(returncode=2, stderr=f"error: error: {found}\n --> x", stdout="")
        figures = {"processor_s": found * 1e-6, "packet_hops": 1000}
        return SimpleNamespace(returncode=0, stderr="", stdout=json.dumps(figures))

    monkeypatch.setattr(subprocess, "run", run)


def test_cases_are_chosen_by_preset_and_shape():
    every = [("queue", "bfc"), ("queue", "dctcp"), ("rtt", "bfc"), ("rtt", "dctcp")]
    assert bench_stress.cases([]) == every
    assert bench_stress.cases(["*-rtt", "bfc-*"]) == [every[0], *every[2:]]
    with pytest.raises(UsageError, match="shapes are queue, rtt"):
        bench_stress.cases(["bfc-flows"])


def test_the_exponent_is_that_of_the_whole_time():
    assert Row("a", "b", {1: 50, 10: 50, 100: 50}).exponent() == pytest.approx(1)
    assert Row("a", "b", {1: 50, 10: 500, 100: 5000}).exponent() == pytest.approx(2)
    assert Row("a", "b", {1: 50}).exponent() is None


def test_a_preset_is_compared_with_the_baseline_at_each_factor(monkeypatch):
    times = {f"dctcp-queue-x{factor}": 50.0 for factor in (1, 10, 100)}
    times |= {"bfc-queue-x1": 60.0, "bfc-queue-x10": 100.0, "bfc-queue-x100": 250.0}
    answers(monkeypatch, times)
    (row,) = bench_stress.measure([("queue", "bfc")], 1)
    assert row.relative() == pytest.approx(5)
    assert row.complaint() == "above 4 x dctcp; exponent above 1.1"


def test_a_refusal_has_its_reason_and_a_case_without_end_its_limit(monkeypatch):
    times = {f"dctcp-rtt-x{factor}": 50.0 for factor in (1, 10, 100)}
    answers(monkeypatch, times | {"bfc-rtt-x1": "no pauses", "bfc-rtt-x10": None})
    (row,) = bench_stress.measure([("rtt", "bfc")], 2)
    assert row.missing == {1: "no pauses", 10: "over 60 s"}
    assert row.complaint() == "over 60 s"


def test_the_command_prints_a_table_and_json(monkeypatch, capsys):
    times = {f"{p}-queue-x{f}": 50.0 for p, _ in PRESETS for f in (1, 10)}
    answers(monkeypatch, times | {"bfc-queue-x100": "too deep", "dctcp-queue-x100": 50.0})
    assert main(["bench", "stress", "*-queue"]) == 0
    said = capsys.readouterr().out
    assert "queue: bytes in a queue" in said
    assert "bfc-queue-x100: too deep" in said
    assert main(["bench", "stress", "bfc-queue", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["relative"], found["exponent"], found["too_slow"]) == (1, 1, "")
    assert main(["bench", "stress", "bfc-*", "--list"]) == 0
    assert capsys.readouterr().out == "bfc-queue\nbfc-rtt\n"
    assert main(["bench", "stress", "--threads", "2"]) == 2
