"""Units of systemd in `contrib/systemd`: valid, and as the page describes the daemons."""

import re
import secrets
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from xoff import cli, commands

ROOT = Path(__file__).parents[2]
UNITS = sorted((ROOT / "contrib" / "systemd").glob("*.service"))
PROGRAM = "/opt/xoff/bin/xoff"
PAGE = ROOT / "docs" / "deploy.md"


def setting(unit, name):
    """Return the first value of a setting of a unit."""
    found = re.search(rf"^{name}=(.*)$", unit.read_text(encoding="utf-8"), re.M)
    assert found, f"{unit.name} has no {name}"
    return found[1]


def arguments(unit, name):
    """Return the arguments of the program that a setting starts."""
    program, *rest = shlex.split(setting(unit, name))
    assert program == PROGRAM
    return rest


def blocks(language):
    """Return the examples of the page in a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)


def example(key):
    """Return the first configuration file of the page that begins with a setting."""
    return next(block for block in blocks("toml") if block.startswith(f"{key} ="))


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
    page = PAGE.read_text(encoding="utf-8")
    paragraph = re.search(r"^The keeper needs (.*?)\n\n", page, re.M | re.S)
    assert paragraph
    documented = set(re.findall(r"`(CAP_\w+)`", paragraph[1]))
    agent, allocator = UNITS
    assert set(setting(agent, "CapabilityBoundingSet").split()) == documented
    assert setting(allocator, "CapabilityBoundingSet") == ""


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_the_program_accepts_the_command_line_and_the_page_has_the_paths(unit):
    given = arguments(unit, "ExecStart")
    parsed = commands.parser().parse_args(given)
    assert [given[0], str(parsed.config)] == [unit.stem.removeprefix("xoff-"), given[1]]
    commands_of_page = "".join(blocks("sh"))
    assert f"xoff {shlex.join(given)}\n" in commands_of_page
    assert f"{Path(PROGRAM).parents[1]}\n" in commands_of_page
    assert str(Path(given[1]).parent / "keys") in commands_of_page


def test_the_agent_cleans_up_after_a_kill():
    agent = commands.parser().parse_args(arguments(UNITS[0], "ExecStopPost"))
    assert (agent.cleanup, agent.config) == (True, None)


def test_the_page_creates_the_user_of_the_allocator():
    user = setting(UNITS[1], "User")
    assert re.search(rf"^useradd .* {user}$", "".join(blocks("sh")), re.M)
    # The agent begins as root, and its process with sockets is a user that every Linux has.
    assert not re.search(r"^User=", UNITS[0].read_text(encoding="utf-8"), re.M)


@pytest.mark.skipif(sys.platform != "linux", reason="the allocator runs on Linux")
@pytest.mark.real_engine
def test_the_allocator_accepts_the_file_of_the_page_as_its_unit_starts_it(tmp_path, capsys):
    config = tmp_path / "allocator.toml"
    # The unit has the user, so the file leaves it out.
    text = re.sub(r"^user = .*\n", "", example("listen"), flags=re.M)
    config.write_text(text, encoding="utf-8")
    (tmp_path / "keys").mkdir()
    for name in re.findall(r'^key = "(.*?)"', text, re.M):
        key = tmp_path / name
        key.touch(mode=0o600)
        key.write_text(secrets.token_hex(32), encoding="utf-8")
    command, path = arguments(UNITS[1], "ExecStart")
    given = [command, path.replace("/etc/xoff", str(tmp_path)), "--check"]
    assert (cli.main(given), capsys.readouterr().out) == (0, f"{config}: good\n")
    key.chmod(0o640)
    assert cli.main(given) == 2
