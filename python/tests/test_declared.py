import os
import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import pytest

import xoff
from xoff import declared

ROOT = Path(__file__).parents[2]

USES = """
import xoff

result = xoff.load("out")
buffer: int | None = result.summary["buffer"]["p99_bytes"]
hosts: float | None = result.summary["load"]["wire"]
share: float | None = result.fluid["optimum"]["share"]["mean"]
names: list[str] = [entry["class"] for entry in result.summary["classes"]]
rows: int = result.flows.num_rows
"""


def checked(tmp_path: Path, text: str) -> str:
    """Return what mypy says of a program."""
    pytest.importorskip("mypy")
    file = tmp_path / "program.py"
    file.write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", str(file)]
    environment = {**os.environ, "MYPYPATH": str(ROOT / "python")}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    return done.stdout


def test_a_misspelt_key_is_a_type_error(tmp_path):
    assert "Success" in checked(tmp_path, USES)
    for right, wrong in (
        ('["buffer"]', '["bufer"]'),
        ('["p99_bytes"]', '["p99_byte"]'),
        ('entry["class"]', 'entry["clas"]'),
        ("result.flows", "result.flwos"),
    ):
        told = checked(tmp_path, USES.replace(right, wrong))
        assert "Found 1 error" in told, told


TRAFFIC = '[[traffic]]\nkind = "open-loop"\nload = 0.5\n'
PACKETS = f'scheme = "bfc"\n[run]\nwarmup = "0us"\nmeasure = "20us"\n{TRAFFIC}stop = "20us"\n'
FLUID = f'engine = "fluid"\n[fluid]\nwarmup = "0us"\nmeasure = "100us"\n{TRAFFIC}'
CONVERGENCE = 'engine = "convergence"\n[convergence]\nnetworks = 1\niterations = 10\n'


@pytest.mark.real_engine
def test_every_key_and_table_is_declared():
    for text, kind in (
        (PACKETS, declared.Summary),
        (FLUID, declared.FluidSummary),
        (CONVERGENCE, declared.ConvergenceSummary),
    ):
        assert list(xoff.run(text).summary) == list(get_type_hints(kind))
    for table in xoff.engine.tables():
        assert isinstance(getattr(declared.Tables, table["name"]), property)


def test_a_summary_belongs_to_its_engine(scenario):
    result = xoff.run(scenario)
    with pytest.raises(xoff.UsageError, match="engine 'packets', not of 'fluid'"):
        _ = result.fluid
    with pytest.raises(xoff.UsageError, match="no table is called 'flwos'; there are flows, "):
        result.table("flwos")
