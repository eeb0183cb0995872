"""`xoff experiment`: experiments in a folder of one's own."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from xoff import cli
from xoff.errors import UsageError
from xoff.papers import of_folder
from xoff.reproduce import Options, _command, prepare

SHIPPED = Path(__file__).parents[2] / "scenarios" / "experiments"


def call(capsys, *args):
    code = cli.main(list(map(str, args)))
    return code, *capsys.readouterr()


def test_a_folder_is_an_experiment_or_holds_several(paper):
    assert of_folder(paper / "demo" / "fig1") == (paper, "demo/fig1")
    assert of_folder(paper / "demo" / "fig1" / "experiment.toml") == (paper, "demo/fig1")
    assert of_folder(paper / "demo") == (paper, "demo")
    with pytest.raises(
        UsageError, match=r"has no experiment\.toml, and none of its folders has one"
    ):
        of_folder(paper)


def test_one_experiment_runs_with_its_claims(paper, tmp_path, capsys):
    folder = paper / "demo" / "fig1"
    code, out, _ = call(capsys, "experiment", folder, "--check", "--out", tmp_path / "out")
    assert code == 0
    assert out.startswith("# Slowdown\n\ndemo/fig1, scale quick, Fig. 1")
    assert "6 simulated claims: 3 holds" in out
    assert (tmp_path / "out" / "figure.png").exists()


def test_a_folder_of_experiments_keeps_its_results(paper, tmp_path, capsys):
    results = tmp_path / "results.json"
    out = ("--out", tmp_path / "out", "--results", results)
    assert call(capsys, "experiment", paper / "demo", *out)[0] == 0
    written = results.read_text()
    assert f"xoff experiment {paper / 'demo' / 'fig1'} --scale quick --check" in written
    code, _, err = call(capsys, "experiment", paper / "demo", *out, "--resume")
    assert code == 0
    assert "not run again" in err


def test_experiments_without_claims_run(paper, tmp_path, capsys):
    (paper / "demo" / "claims.toml").unlink()
    folder = paper / "demo" / "fig1"
    assert call(capsys, "experiment", folder, "--out", tmp_path / "out")[0] == 0
    for option in ("--check", "--json", "--resume"):
        code, _, err = call(capsys, "experiment", folder, option)
        assert code == 2
        assert f"{option} needs claims" in err
        assert f"{paper / 'demo' / 'claims.toml'} does not exist" in err


def test_a_list_shows_them(paper, capsys):
    out = call(capsys, "experiment", paper / "demo", "--list")[1]
    assert out.splitlines()[1].split()[:2] == ["demo/fig1", "Slowdown"]


@pytest.mark.real_engine
@pytest.mark.parametrize("file", sorted(SHIPPED.glob("*/experiment.toml")))
@pytest.mark.parametrize("scale", ["quick", "paper"])
def test_shipped_experiments_are_valid(file, scale):
    root, name = of_folder(file.parent)
    prepared = prepare(name, Options(scale=scale, root=root, check=True))
    assert prepared.plan()
    assert prepared.claims


def test_a_scale_without_cases_is_an_error(paper, tmp_path, capsys):
    file = paper / "demo" / "fig1" / "experiment.toml"
    file.write_text(file.read_text().replace("[[case]]", '[[case]]\nscales = ["paper"]'))
    code, _, err = call(capsys, "experiment", paper / "demo" / "fig1", "--out", tmp_path / "out")
    assert code == 2
    assert f"{file}: no case runs at scale quick: use --scale paper, or give a case" in err
    assert call(capsys, "experiment", paper / "demo", "--list")[0] == 0


def test_a_mistake_about_the_second_experiment_ends_the_command_first(paper, tmp_path, capsys):
    second = paper / "demo" / "fig2"
    shutil.copytree(paper / "demo" / "fig1", second)
    file = second / "experiment.toml"
    file.write_text(file.read_text().replace('name = "HPCC"', 'name = "Another"'))
    options = ("--relative-to", "HPCC", "--out", tmp_path / "out")
    code, _, err = call(capsys, "experiment", paper / "demo", *options)
    assert code == 2
    assert "demo/fig2: `relative_to`: no case is called `HPCC`" in err
    assert not (tmp_path / "out").exists()


def test_experiments_without_seeds_get_them(paper, tmp_path):
    file = paper / "demo" / "fig1" / "experiment.toml"
    file.write_text(file.read_text().replace("seeds = [1, 2]", ""))
    options = Options(root=paper, seeds=3, out=tmp_path / "out")
    prepared = prepare("demo/fig1", options)
    assert [one.seed for one in prepared.experiment.points] == 4 * [1, 2, 3]
    assert _command(prepared).endswith("--seeds 3")
    with pytest.raises(UsageError, match="would be the seed of all runs"):
        prepare("demo/fig1", replace(options, settings=("seed=7",)))


def test_a_command_without_seeds_names_none(tmp_path):
    prepared = prepare("bfc/fig01", Options(seeds=3, out=tmp_path))
    assert all(point.compute for point in prepared.experiment.points)
    assert "--seeds" not in _command(prepared)
