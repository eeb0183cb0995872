"""The output files of a case of the HPCC simulator, in its run directory."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from xoff import engine
from xoff.cli import main
from xoff.integrity import open_run_dir

CASES = Path(__file__).parents[2] / "crates/xoff-run/tests/hpcc_ns3/settings"
FILES = ("fct.txt", "pfc.txt", "qlen.txt")


def a_case(folder: Path, name: str = "pauses-and-queues", **keys: str) -> Path:
    """Copy a case; set some keys of its configuration."""
    shutil.copytree(CASES / name, folder)
    config = folder / "config.txt"
    lines = [line for line in config.read_text().splitlines() if line.split(" ")[0] not in keys]
    lines += [f"{key} {value}" for key, value in keys.items()]
    config.write_text("\n".join(lines) + "\n")
    return config


def run(config: Path, out: Path) -> int:
    return main(["run", str(config), "--out", str(out), "--quiet", "--set", "next_hops=descending"])


@pytest.mark.real_engine
def test_a_run_directory_has_the_files_of_that_simulator(tmp_path):
    config = a_case(tmp_path / "case")
    out = tmp_path / "out"
    for _ in range(2):  # the second run replaces the first
        assert run(config, out) == 0
        files = open_run_dir(out)
        for name in FILES:
            assert files.text(name) == (tmp_path / "case" / name).read_text()
    assert "other_files" not in json.loads((out / "manifest.json").read_text())


@pytest.mark.real_engine
def test_a_case_runs_with_all_that_is_printed(tmp_path, capsys):
    """Its settings are not those of a scenario, from which the cost of a run is estimated."""
    config = a_case(tmp_path / "case")
    given = [str(config), "--set", "next_hops=descending"]
    assert main(["run", *given, "--out", str(tmp_path / "out")]) == 0
    assert "results in " in capsys.readouterr().out
    assert main(["check", *given]) == 0


@pytest.mark.real_engine
def test_files_have_the_last_part_of_the_names_in_the_configuration(tmp_path):
    keys = {"FCT_OUTPUT_FILE": "mix/flows.txt", "PFC_OUTPUT_FILE": "/a/b/pauses.txt"}
    config = a_case(tmp_path / "case", **keys, ENABLE_TRACE="1")
    assert run(config, tmp_path / "out") == 0
    found = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"flows.txt", "pauses.txt", "qlen.txt"} <= found
    assert not found & {"fct.txt", "pfc.txt"}
    scenario = (tmp_path / "out" / "scenario.toml").read_text()
    assert "# TRACE_OUTPUT_FILE mix.tr is not written. It changes no result." in scenario


@pytest.mark.real_engine
@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        ("FCT_OUTPUT_FILE", "a/summary.json", "FCT_OUTPUT_FILE a/summary.json: a run directory"),
        ("PFC_OUTPUT_FILE", "flows.parquet", "PFC_OUTPUT_FILE flows.parquet: a run directory"),
        ("PFC_OUTPUT_FILE", "x/fct.txt", "FCT_OUTPUT_FILE and PFC_OUTPUT_FILE both name fct.txt"),
        ("QLEN_MON_FILE", "..", "QLEN_MON_FILE .. names no file"),
        ("KMAX_MAP", "1 1000 5", "KMAX_MAP has no entry for links of "),
    ],
)
def test_names_that_cannot_be_are_refused(key, value, error, tmp_path, capsys):
    config = a_case(tmp_path / "case", **{key: value})
    assert run(config, tmp_path / "out") == 2
    assert f"{config}: {error}" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.real_engine
def test_a_new_run_replaces_the_files_of_an_interrupted_one(tmp_path, monkeypatch):
    config = a_case(tmp_path / "case")

    def interrupt(_progress: object) -> None:
        raise KeyboardInterrupt

    out = tmp_path / "out"
    drive = engine.drive
    monkeypatch.setattr(engine, "drive", lambda run, sink, *_: drive(run, sink, interrupt))
    assert run(config, out) == 130
    assert (tmp_path / "out.partial" / "fct.txt").exists()
    monkeypatch.undo()
    assert run(config, out) == 0
    assert (out / "fct.txt").read_text() == (tmp_path / "case" / "fct.txt").read_text()


@pytest.mark.real_engine
def test_a_buffer_below_its_headrooms_is_refused(tmp_path, capsys):
    config = a_case(tmp_path / "case")
    topology = tmp_path / "case" / "topology.txt"
    topology.write_text(topology.read_text().replace("ns ", "0ns "))
    assert run(config, tmp_path / "out") == 2
    error = capsys.readouterr().err
    assert "BUFFER_SIZE 1: the headrooms and reserves of switch" in error
    assert "choose at least " in error
