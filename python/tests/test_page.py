"""The page on a paper: one section per experiment, in the paper's order, with every claim."""

import shutil

import pytest

from xoff import page, recorded
from xoff.cli import main
from xoff.reproduce_paper import Keeping, reproduce_all

LATER = """
[[claim]]
id = "D-C10"
where = "2"
text = "a closed form"
paper = "0.75"
metric = "value"
terms = [{ theory = "sfc.cache_saving", arguments = { t_a = 4.0, t_tor = 1.0 } }]
low = 0.75
high = 0.75
[[claim]]
id = "D-C11"
where = "2"
text = "no two | share"
experiment = "fig1"
metric = "value"
cases = ["HPCC"]
path = "buffer.p99_bytes"
low = 1
"""


@pytest.fixture
def papers(paper):
    """A paper with two experiments whose order in the paper differs from that of their names."""
    demo = paper / "demo"
    shutil.copytree(demo / "fig1", demo / "again")
    for name, source in (("again", "Demo (2022) §3.1, Fig. 2"), ("fig1", "Demo (2022) §2, Fig. 1")):
        file = demo / name / "experiment.toml"
        text = file.read_text().replace("seeds = [1, 2]", "seeds = [1, 2, 3]")
        file.write_text(text.replace('source = "Fig. 1"', f'source = "{source}"'))
    claims = demo / "claims.toml"
    claims.write_text(claims.read_text().replace('"fig2"]', '"again"]') + LATER)
    return paper


def written(papers, tmp_path):
    folder = tmp_path / "docs"
    options = {"out": tmp_path / "out", "check": True, "slots": 2, "root": papers}
    reproduce_all("demo", lambda _: None, keeping=Keeping(page=folder), **options)
    return folder


def test_a_page_has_every_experiment_and_every_claim(papers, tmp_path):
    folder = written(papers, tmp_path)
    text = (folder / "demo.md").read_text()
    assert text.startswith("# Demo (2022): claims and measurements\n")
    assert text.index("## §2, Fig. 1: Slowdown") < text.index("## §3.1, Fig. 2: Slowdown")
    assert "[§2, Fig. 1: Slowdown](#2-fig-1-slowdown)" in text
    assert "![Slowdown](demo/fig1.png)" in text
    command = f"xoff experiment {papers / 'demo' / 'fig1'} --scale quick --check"
    assert f"`{command}`, seeds 1, 2, 3, runs: 6," in text
    assert "- D-C3: fails on purpose.\n" in text
    assert "no two \\| share" in text
    assert text.count("| case | seeds |") == 1
    assert "The cases are those of [§2, Fig. 1: Slowdown](#2-fig-1-slowdown).\n" in text
    last = text[text.index("## Claims without a run") :]
    assert "| D-C4 | 2 | ExpressPass is worst |  | needs ExpressPass | not-run |" in last
    assert "| D-C10 | 2 | a closed form | 0.75 | 0.75 | holds |" in last
    for name in ("fig1", "again"):
        assert (folder / "demo" / f"{name}.png").read_bytes()[:4] == b"\x89PNG"


def test_a_page_is_the_same_from_the_same_runs(papers, tmp_path):
    folder = written(papers, tmp_path)
    first = {file.name: file.read_bytes() for file in folder.rglob("*.*")}
    assert first == {f.name: f.read_bytes() for f in written(papers, tmp_path).rglob("*.*")}
    assert len(first) == 3


def test_parts_follow_the_paper():
    sources = ["§2.1, Table 1", "§2.3, Fig. 4", "§6.2.2, Fig. 9", "§6.2.2, Fig. 10", "App. A.2"]
    sources += ["App. A.11, Fig. 28", "App. C, Fig. 30", "nowhere"]
    parts = [{"source": f"Demo {source}"} for source in sources]
    mixed = [*parts[3:], *parts[:3]]
    assert sorted(mixed, key=lambda entry: page._place("name", entry)) == parts


def test_what_is_ours_has_no_place_in_the_paper():
    sources = ["ours (§2 is silent)", "Demo (2022) §3"]
    assert page._title(sources) == "Demo (2022)"
    headings = [page._heading({"source": source, "title": "Loads"}) for source in sources]
    assert headings == ["Loads", "§3: Loads"]


def test_a_digest_is_of_names_and_digests_in_any_order():
    def run(case, found):
        return {"case": case, "seed": 1, "digest": found}

    first = recorded.runs_digest([run("a", "1"), run("b", "2")])
    assert first == recorded.runs_digest([run("b", "2"), run("a", "1")])
    assert first != recorded.runs_digest([run("a", "2"), run("b", "1")])


def test_an_experiment_of_its_own_joins_those_on_the_page(papers, tmp_path):
    options = {"out": tmp_path / "out", "slots": 2, "root": papers}
    keeping = Keeping(results=tmp_path / "results.json", page=tmp_path)
    for name in ("demo/fig1", "demo/again"):
        reproduce_all(name, lambda _: None, keeping=keeping, **options)
    text = (tmp_path / "demo.md").read_text()
    assert "## §2, Fig. 1: Slowdown" in text
    assert "## §3.1, Fig. 2: Slowdown" in text


def test_the_command_checks_claims_for_a_page(papers, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("xoff.papers.papers_dir", lambda: papers)
    monkeypatch.chdir(tmp_path)
    assert main(["reproduce", "demo", "--page", "docs"]) == 0
    assert "D-C1" in (tmp_path / "docs" / "demo.md").read_text()
    assert "simulated claims" in capsys.readouterr().out
