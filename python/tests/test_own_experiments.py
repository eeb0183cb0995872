"""`xoff experiment`: experiments in a folder of one's own."""

from pathlib import Path

import pytest

from xoff import cli
from xoff.errors import UsageError
from xoff.papers import of_folder
from xoff.reproduce import Options, prepare

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
