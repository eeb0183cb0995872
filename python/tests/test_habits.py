import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from xoff import cli, doctor, engine, extras
from xoff.commands import COMMANDS, parser
from xoff.commands.arguments import Parser
from xoff.html_report.scenarios import differences
from xoff.papers import find_experiment

ROOT = Path(__file__).parents[2]


def call(capsys, *args):
    code = cli.main(list(args))
    return code, *capsys.readouterr()


def test_help_fits_a_screen(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--help"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_shows_an_example_that_is_valid(name, capsys):
    with pytest.raises(SystemExit):
        cli.main([name, "--help"])
    example = COMMANDS[name].EXAMPLE
    assert f"example:\n  {example}\n" in capsys.readouterr().out
    words = re.sub(r"^source <\((.*)\)$", r"\1", example)
    arguments = shlex.split(words)
    assert arguments[0] == "xoff"
    parsed = parser().parse_args(arguments[1:])
    for given in ("file", "folder"):
        path = getattr(parsed, given, None)
        assert path is None or (ROOT / path).exists()


def test_a_preset_is_shown_with_its_sources(capsys):
    assert call(capsys, "presets", "bfc")[1].startswith("# Backpressure Flow Control\n[switch]")
    said = json.loads(call(capsys, "presets", "bfc", "--json")[1])
    assert said["toml"].endswith('hop = "bfc"\n')
    lines = call(capsys, "presets", "--json")[1].splitlines()
    assert [json.loads(line)["preset"] for line in lines] == ["bfc", "dctcp"]
    code, _, err = call(capsys, "presets", "bfx")
    assert (code, err) == (
        2,
        "error: no preset is called `bfx` (did you mean `bfc`?); `xoff presets` lists them\n",
    )


@pytest.mark.real_engine
def test_texts_of_a_preset_are_settings_in_force():
    text = engine.preset_text("bfc-128")
    assert text.index("(BFC §3.3, §6.2.1)") < text.index("128 queues per port")


def test_an_unknown_experiment_names_the_nearest_not_all(tmp_path):
    with pytest.raises(Exception, match="unknown experiment") as caught:
        find_experiment("bfc/fig9")
    assert "did you mean `bfc/fig09`?" in str(caught.value)
    assert len(str(caught.value)) < 200


def test_a_folder_that_is_no_paper_names_the_command_for_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    with pytest.raises(Exception, match=r"mine is a folder: `xoff experiment \./mine` runs"):
        find_experiment("./mine/")


@pytest.mark.real_engine
def test_the_doctor_finds_this_installation_well(capsys):
    code, out, _ = call(capsys, "doctor", "--json")
    found = {item["what"]: item for item in map(json.loads, out.splitlines())}
    assert code == 0
    assert found["engine"]["found"].startswith("runs, digest ")
    assert int(found["papers"]["found"].split()[0]) > 100
    assert "ok" in call(capsys, "doctor")[1]


def test_the_doctor_says_what_is_missing(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "NEEDED", ("no-such-package",))
    monkeypatch.setattr(extras, "PACKAGES", {"plot": "no-such-extra"})
    monkeypatch.setattr(doctor, "_engine", lambda: doctor.Item("engine", "runs"))
    code, out, _ = call(capsys, "doctor")
    assert code == 1
    assert re.search(r"^MISSING +no-such-package +not installed +reinstall xoff$", out, re.M)
    advice = r"figures: pip install 'xoff\[plot\]'"
    assert re.search(rf"^optional +no-such-extra +not installed +{advice}$", out, re.M)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_get_completion(shell, capsys):
    code, out, _ = call(capsys, "completion", shell)
    assert code == 0
    assert "xoff" in out


def test_bash_completes_commands_and_options(tmp_path):
    answer = tmp_path / "answer"
    environment = {
        **os.environ,
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
        "COMP_LINE": "xoff sw",
        "COMP_POINT": "7",
        "IFS": "\n",
    }
    subprocess.run([sys.executable, "-m", "xoff"], env=environment, check=False)
    assert answer.read_text().split() == ["sweep"]


def test_differences_of_scenarios_and_runs(scenario, tmp_path, capsys):
    assert call(capsys, "diff", str(scenario), str(scenario))[:2] == (0, "no setting differs\n")
    both = ("diff", str(scenario), str(scenario), "--other-set", "scheme=dctcp")
    code, out, _ = call(capsys, *both)
    assert code == 1
    assert out.splitlines()[1].split() == ["scheme", "bfc", "dctcp"]
    said = json.loads(call(capsys, *both, "--json")[1])
    assert said == {"key": "scheme", "values": ["bfc", "dctcp"]}
    run = tmp_path / "run"
    assert cli.main(["run", str(scenario), "--out", str(run), "--set", "seed=2", "--quiet"]) == 0
    code, out, _ = call(capsys, "diff", str(scenario), str(run))
    assert (code, out.splitlines()[1].split()) == (1, ["seed", "1", "2"])
    code, _, err = call(capsys, "diff", str(run), str(run), "--set", "seed=1")
    assert (code, "its settings cannot be overridden" in err) == (2, True)


def test_the_help_tells_the_defaults(capsys):
    for name, module in COMMANDS.items():
        own = Parser(prog=name)
        module.add(own)
        for action in own._actions:
            shown = re.search(r"\(default: ([\w./]+)\)", action.help or "")
            if shown and isinstance(action.default, Path):
                assert shown[1] in (str(action.default), action.default.stem), (name, action.dest)


def test_derived_values_and_other_files_are_compared():
    one = "# Derived:\n#   bdp = 52KB\nseed = 1\n"
    assert differences([one, one.replace("52KB", "60KB")]) == [
        {"key": "bdp", "values": ["52KB", "60KB"]}
    ]
    case = "ENABLE_QCN 1\nKMAX_MAP 2 100 5\n"
    assert differences([case, case.replace("QCN 1", "QCN 0")]) == [
        {"key": "ENABLE_QCN", "values": ["1", "0"]}
    ]
