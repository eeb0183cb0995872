"""The comparison of instruction counts with the table, on made-up counts."""

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


def counts(first, second=500.0, compiler="rustc 1"):
    return {"compiler": compiler, "cases": {"first": first, "second": second}}


@pytest.mark.parametrize(
    ("found", "good", "said"),
    [
        (counts(900.0), True, "+0.0 %"),
        (counts(944.0), True, "+4.9 %"),
        (counts(946.0), False, "error: more than 5 % above the table"),
        (counts(900.0, 470.0), True, "-6.0 %"),
        (counts(900.0, 470.0), True, "to keep what was won"),
        (counts(800.0, 600.0), False, "error: more than 5 % above the table"),
        (counts(990.0, compiler="rustc 2"), True, "warning: the table is for rustc 1, but this is"),
        ({"compiler": "rustc 1", "cases": {"first": 900.0}}, False, "other cases"),
    ],
)
def test_only_more_instructions_fail(guard, found, good, said):
    text, fine = guard.compare(counts(900.0), found)
    assert fine == good
    assert said in text


def test_the_table_has_every_case(guard):
    assert list(json.loads(guard.TABLE.read_text())["cases"]) == list(guard.CASES)


@pytest.mark.parametrize(("required", "code"), [([], 0), (["--required"], 1)])
def test_without_valgrind_nothing_is_counted(guard, monkeypatch, capsys, required, code):
    monkeypatch.setattr(guard.shutil, "which", lambda name: None)
    monkeypatch.setattr(guard.sys, "argv", ["instructions.py", *required])
    assert guard.main() == code
    assert "valgrind is not installed" in capsys.readouterr().out
