"""The comparison of instruction counts with their ceilings, on made-up counts."""

import importlib.util
import json
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "bench/instructions.py"


@pytest.fixture
def guard():
    spec = importlib.util.spec_from_file_location("instructions", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def written(guard, monkeypatch, tmp_path):
    """Have tables written to a temporary file; return a function that reads it."""
    file = tmp_path / "instructions.json"
    monkeypatch.setattr(guard, "TABLE", file)
    return lambda: json.loads(file.read_text()) if file.exists() else None


def table(first, second=500.0):
    return {"compiler": "rustc 1", "cases": {"a": {"ceiling": first}, "b": {"ceiling": second}}}


def counts(first, second=500.0, compiler="rustc 1"):
    return {"compiler": compiler, "cases": {"a": first, "b": second}}


@pytest.mark.parametrize(
    ("found", "good", "said"),
    [
        (counts(900.0), True, "+0.0 %"),
        (counts(900.8), True, "+0.1 %"),
        (counts(901.0), False, "error: above the ceiling: a. Make the engine faster"),
        (counts(800.0, 500.6), False, "error: above the ceiling: b."),
        (counts(900.0, 499.9), True, "-0.0 %"),
        (counts(900.0, 470.0), True, "run bench/instructions.py --update to lower it"),
        (counts(990.0, compiler="rustc 2"), True, "warning: the table is for rustc 1, but this is"),
        ({"compiler": "rustc 1", "cases": {"a": 900.0}}, False, "other cases"),
    ],
)
def test_a_count_above_its_ceiling_fails(guard, found, good, said):
    text, fine = guard.compare(table(900.0), found)
    assert fine == good
    assert said in text


def test_an_update_lowers_ceilings(guard, written):
    assert guard.update(table(900.0), counts(880.0, 500.2), None)[1]
    assert written() == table(880.0)


@pytest.mark.parametrize("compiler", ["rustc 1", "rustc 2"])
def test_an_update_without_a_reason_raises_nothing(guard, written, compiler):
    text, good = guard.update(table(900.0), counts(950.0, 400.0, compiler), None)
    assert not good
    assert '--raise "REASON" raises the ceiling of a' in text
    assert written() is None


def test_reasons_for_raising_are_kept(guard, written):
    assert guard.update(table(900.0), counts(950.0), "flows carry a label")[1]
    first = {"from": 900.0, "to": 950.0, "reason": "flows carry a label"}
    assert written()["cases"]["a"] == {"ceiling": 950.0, "raised": [first]}
    assert written()["cases"]["b"] == {"ceiling": 500.0}
    assert guard.update(written(), counts(960.0), "labels have two words")[1]
    second = {"from": 950.0, "to": 960.0, "reason": "labels have two words"}
    assert written()["cases"]["a"] == {"ceiling": 960.0, "raised": [first, second]}


def test_an_update_takes_new_cases_and_drops_old_ones(guard, written):
    found = {"compiler": "rustc 1", "cases": {"a": 900.0, "c": 700.0}}
    assert guard.update(table(900.0), found, None)[1]
    assert written()["cases"] == {"a": {"ceiling": 900.0}, "c": {"ceiling": 700.0}}


def test_the_table_has_every_case(guard):
    assert list(json.loads(guard.TABLE.read_text())["cases"]) == list(guard.CASES)


@pytest.mark.parametrize(
    ("flags", "code"), [([], 0), (["--required"], 1), (["--raise", "more work"], 0)]
)
def test_without_valgrind_nothing_is_counted(guard, monkeypatch, capsys, flags, code):
    monkeypatch.setattr(guard.shutil, "which", lambda name: None)
    monkeypatch.setattr(guard.sys, "argv", ["instructions.py", *flags])
    assert guard.main() == code
    assert "valgrind is not installed" in capsys.readouterr().out


def test_an_empty_reason_is_refused(guard, monkeypatch):
    monkeypatch.setattr(guard.sys, "argv", ["instructions.py", "--raise", " "])
    with pytest.raises(SystemExit):
        guard.main()


@pytest.mark.parametrize(
    ("flags", "found", "code", "ceiling"),
    [
        ([], 880.0, 0, 900.0),
        (["--update"], 880.0, 0, 880.0),
        ([], 950.0, 1, 900.0),
        (["--update"], 950.0, 1, 900.0),
        (["--raise", "more work"], 950.0, 0, 950.0),
    ],
)
def test_the_command_line(guard, written, monkeypatch, flags, found, code, ceiling):
    guard.TABLE.write_text(json.dumps({"compiler": "rustc 1", "cases": {"a": {"ceiling": 900.0}}}))
    monkeypatch.setattr(guard.shutil, "which", lambda name: name)
    monkeypatch.setattr(guard, "build", lambda: "engine")
    monkeypatch.setattr(guard, "compiler", lambda: "rustc 1")
    monkeypatch.setattr(guard, "CASES", ("a",))
    monkeypatch.setattr(guard, "count", lambda engine, case: found)
    monkeypatch.setattr(guard.sys, "argv", ["instructions.py", *flags])
    assert guard.main() == code
    assert written()["cases"]["a"]["ceiling"] == ceiling
