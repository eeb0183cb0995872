"""Units of systemd in `contrib/systemd`: valid, and with the capabilities that the page names."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UNITS = sorted((ROOT / "contrib" / "systemd").glob("*.service"))
PROGRAM = "/opt/xoff/bin/xoff"


def setting(unit, name):
    """Return the first value of a setting of a unit."""
    found = re.search(rf"^{name}=(.*)$", unit.read_text(encoding="utf-8"), re.M)
    assert found, f"{unit.name} has no {name}"
    return found[1]


def test_there_is_a_unit_for_each_daemon():
    assert [unit.stem for unit in UNITS] == ["xoff-agent", "xoff-allocator"]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_systemd_finds_no_mistake(unit, tmp_path):
    """systemd looks for the program, so another program takes its place."""
    text = unit.read_text(encoding="utf-8")
    assert PROGRAM in text
    copy = tmp_path / unit.name
    copy.write_text(text.replace(PROGRAM, shutil.which("true")), encoding="utf-8")
    command = ["systemd-analyze", "verify", "--man=no", str(copy)]
    checked = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_an_agent_has_the_capabilities_of_the_page_and_no_others():
    page = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    paragraph = re.search(r"^The keeper needs (.*?)\n\n", page, re.M | re.S)
    assert paragraph
    documented = set(re.findall(r"`(CAP_\w+)`", paragraph[1]))
    agent, allocator = UNITS
    assert set(setting(agent, "CapabilityBoundingSet").split()) == documented
    assert setting(allocator, "CapabilityBoundingSet") == ""
