"""Every scenario that the project shows is accepted, and those to try out also run."""

import re
from pathlib import Path

import pytest

from xoff import cli
from xoff.strict import tomllib

ROOT = Path(__file__).parents[2]
SHIPPED = sorted((ROOT / "scenarios").glob("*.toml"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SHORT = ["run.warmup=0us", "run.measure=20us", "run.drain=200us"]

pytestmark = pytest.mark.real_engine


def blocks():
    """Return the scenarios in the pages: TOML blocks with traffic; others are parts of one."""
    found = []
    for page in PAGES:
        for number, block in enumerate(
            re.findall(r"^```toml\n(.*?)^```", page.read_text(), re.M | re.S)
        ):
            if "traffic" in tomllib.loads(block):
                found.append(pytest.param(block, id=f"{page.name}-{number}"))
    return found


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_a_shipped_scenario_is_accepted_and_runs(file, tmp_path):
    assert cli.main(["check", str(file)]) == 0
    sets = [word for value in SHORT for word in ("--set", value)]
    assert cli.main(["run", str(file), "--quiet", "--out", str(tmp_path / "out"), *sets]) == 0
    assert (tmp_path / "out/summary.json").exists()


@pytest.mark.parametrize("text", blocks())
def test_a_scenario_in_a_page_is_accepted_and_runs(text, tmp_path):
    file = tmp_path / "page.toml"
    file.write_text(text)
    assert cli.main(["check", str(file)]) == 0
    sets = [word for value in SHORT for word in ("--set", value)]
    assert cli.main(["run", str(file), "--quiet", "--out", str(tmp_path / "out"), *sets]) == 0


def test_the_readme_shows_its_first_scenario():
    assert any(
        param.id.startswith("README") and 'name = "hello"' in param.values[0] for param in blocks()
    )
