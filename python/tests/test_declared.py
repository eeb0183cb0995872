import os
import re
import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import declare_settings
import pytest

import xoff
from xoff import declared

ROOT = Path(__file__).parents[2]
SETTINGS = ROOT / "python" / "xoff" / "declared_settings.py"

USES = """
import xoff

result = xoff.load("out")
buffer: int | None = result.summary["buffer"]["p99_bytes"]
hosts: float | None = result.summary["load"]["wire"]
share: float | None = result.fluid["optimum"]["share"]["mean"]
names: list[str] = [entry["class"] for entry in result.summary["classes"]]
rows: int = result.flows.num_rows

scenario = xoff.scenario("bfc", load=0.8, run={"measure": "1ms", "monitor": [0, 3]})
changed: xoff.Scenario = scenario.with_(scheme="dctcp", leaf_spine={"leaves": 4}, victims=0)
incast = xoff.Scenario(traffic=[{"kind": "incast", "class": "in", "degree": 3}], hosts=2)
for preset in xoff.presets():
    derived: str = incast.with_(scheme=preset).check().derived["base_rtt"]
compared = xoff.compare([scenario.run(progress=False)], {"p99": {"statistic": "p99"}})
low: int = compared.table.num_rows + scenario.sweep({"load": [0.5]}).table.num_rows
"""
# Each line has one mistake.
MISTAKES = """
result.summary["bufer"]
result.summary["buffer"]["p99_byte"]
result.summary["classes"][0]["clas"]
result.flwos
xoff.scenario("bfc", laod=0.8)
xoff.scenario("bfc", load="0.8")
scenario.with_(run={"mesure": "1ms"})
scenario.with_(scheme="bcf")
scenario.with_(hop="bfcc")
xoff.Scenario(traffic=[{"kind": "incsat"}])
scenario.chek()
scenario.check().derived["base_rtt"] + 1
xoff.compare(scenario)
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


def test_a_mistake_is_a_type_error_and_the_rest_is_not(tmp_path):
    found = checked(tmp_path, USES + MISTAKES)
    first = len(USES.splitlines()) + 2
    lines = {int(line) for line in re.findall(r"program\.py:(\d+): error", found)}
    last = first + len(MISTAKES.strip().splitlines())
    assert lines == set(range(first, last)), found


@pytest.mark.real_engine
def test_settings_are_declared_as_the_engine_has_them():
    text = declare_settings.module()
    if os.environ.get("XOFF_UPDATE_DECLARED"):
        SETTINGS.write_text(text, encoding="utf-8")
    assert SETTINGS.read_text(encoding="utf-8") == text, "run `make declared`"


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
