"""Commands without the packages of extras, each in a process that cannot import them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from xoff import doctor, extras
from xoff.errors import MissingExtraError, UsageError
from xoff.strict import tomllib

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SWEEP = 'scenario = "small.toml"\ngrid = { "run.slices" = [2, 3] }\n'
BARE = "import sys\nsys.modules.update(dict.fromkeys(('matplotlib', 'distributed')))\n"


def bare(code, *args, where):
    """Run Python code in a process without the packages of extras."""
    return subprocess.run(
        [sys.executable, "-c", BARE + code, *map(str, args)],
        cwd=where,
        capture_output=True,
        text=True,
        check=False,
    )


def xoff(*args, where, first=""):
    code = f"{first}\nfrom xoff.cli import main\nsys.exit(main(sys.argv[1:]))"
    return bare(code, *args, where=where)


def test_all_has_every_extra():
    known = PROJECT["optional-dependencies"]
    assert known["all"] == [f"xoff[{','.join(extras.PACKAGES)}]"]
    for extra, package in extras.PACKAGES.items():
        assert [re.match(r"[\w-]+", one)[0] for one in known[extra]] == [package]
    assert extras.PURPOSES.keys() == extras.PACKAGES.keys()


def test_the_doctor_examines_the_packages_that_are_always_installed():
    names = [re.match(r"[\w-]+", one)[0] for one in PROJECT["dependencies"] if ";" not in one]
    assert list(doctor.NEEDED) == names


def test_a_missing_extra_is_a_usage_error_and_an_import_error():
    with pytest.raises(ImportError) as caught:
        raise MissingExtraError("--page needs it")
    assert isinstance(caught.value, UsageError)
    assert str(caught.value) == "--page needs it"


@pytest.mark.parametrize(
    ("command", "what", "extra"),
    [
        ("plot nowhere", "`xoff plot`", "plot"),
        ("lab plot a.json b.json c.png", "`xoff lab plot`", "plot"),
        ("reproduce bfc --page pages", "--page", "plot"),
        ("compare-reference nowhere --page page.md", "--page", "plot"),
        ("sweep sweep.toml --y p99", "--y", "plot"),
        ("sweep sweep.toml --dask tcp://127.0.0.1:1", "--dask", "dask"),
    ],
)
def test_what_needs_an_extra_fails_before_anything_runs(scenario, command, what, extra):
    where = scenario.parent
    (where / "sweep.toml").write_text(SWEEP)
    before = sorted(where.iterdir())
    done = xoff(*command.split(), where=where)
    package = extras.PACKAGES[extra]
    assert done.stderr == (
        f"error: {what} needs {package}, which is not installed: pip install 'xoff[{extra}]'\n"
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert sorted(where.iterdir()) == before


def test_a_sweep_writes_its_tables_without_figures_and_draws_them_later(scenario):
    where = scenario.parent
    (where / "sweep.toml").write_text(SWEEP)
    done = xoff("sweep", "sweep.toml", where=where)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("no figures: matplotlib is not installed. After pip install")
    assert {file.name for file in (where / "out/sweep").iterdir()} == {
        "runs",
        "runs.parquet",
        "sweep.parquet",
        "table.md",
    }
    full = [sys.executable, "-m", "xoff", "sweep", "sweep.toml"]
    again = subprocess.run(full, cwd=where, capture_output=True, text=True, check=True)
    assert "2 of 2 runs are finished already" in again.stderr
    assert (where / "out/sweep/figure.svg").is_file()


def test_an_experiment_writes_its_table_and_checks_its_claims_without_a_figure(paper):
    where = paper.parent
    first = f"import pathlib, xoff.papers as p\np.papers_dir = lambda: pathlib.Path({str(paper)!r})"
    done = xoff("reproduce", "demo/fig1", "--check", where=where, first=first)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("no figures: matplotlib is not installed") == 1
    assert "D-C1" in done.stdout
    assert done.stdout.rstrip().splitlines()[-1].startswith("table: ")
    assert "figure:" not in done.stdout
    assert [file.name for file in (where / "out/demo/fig1-quick").iterdir()] == ["table.md"]


@pytest.mark.real_engine
def test_a_run_and_its_report_need_no_extra(tmp_path):
    first = ["run", ROOT / "scenarios/first.toml", "--set", "run.measure=50us", "--out", "first"]
    for command in (first, ["report", "first"]):
        done = xoff(*command, where=tmp_path)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "report.html").is_file()


def test_drawing_in_python_says_what_is_missing(tmp_path):
    done = bare("import xoff.plots", where=tmp_path)
    assert done.stderr.rstrip().endswith(
        "MissingExtraError: xoff.plots needs matplotlib, which is not installed: "
        "pip install 'xoff[plot]'"
    )


@pytest.mark.real_engine
def test_importing_xoff_imports_nothing_heavy(tmp_path):
    heavy = "{'numpy', 'pyarrow', 'matplotlib', 'distributed', 'argcomplete'}"
    code = f"import sys, xoff, xoff.cli\nprint({heavy} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
