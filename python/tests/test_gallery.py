"""Comparisons of many schemes, such as the gallery."""

import json
import shutil
from fnmatch import fnmatch
from pathlib import Path

import pytest
from PIL import Image

from xoff import comparison, comparison_page, dots, engine, recorded
from xoff.errors import UsageError
from xoff.experiment import load_experiment
from xoff.readings import scheme_of
from xoff.reproduce_paper import Keeping, reproduce_all

ROOT = Path(__file__).parents[2]
GALLERY = ROOT / "papers" / "gallery"
PAGE = ROOT / "docs" / "reproduction" / "gallery"
EXPERIMENTS = sorted(file.parent.name for file in GALLERY.glob("*/experiment.toml"))
COMPARED = comparison.load(GALLERY)
RECORD = recorded.load(GALLERY / "results.json")


def points(name, scale="quick"):
    return load_experiment(GALLERY / name, f"gallery/{name}", scale).points


@pytest.mark.real_engine
def test_every_preset_is_in_the_gallery_or_left_out_for_a_reason():
    shown = {scheme_of(point.scenario, point.overrides) for point in points("steady")}
    known = {preset for preset, _ in engine.presets()}
    for preset in known:
        reasons = [pattern for pattern in COMPARED.left_out if fnmatch(preset, pattern)]
        assert (preset in shown) != bool(reasons), f"{preset}: a case, or a reason in left_out"
    unused = [p for p in COMPARED.left_out if not any(fnmatch(one, p) for one in known)]
    assert not unused, "no preset has such a name"


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_cases_are_the_same_in_every_experiment(name):
    steady = [(p.label, p.group, p.seed) for p in points("steady")]
    assert [(p.label, p.group, p.seed) for p in points(name)] == steady
    assert all(group for _, group, _ in steady)


def test_the_fabric_is_the_same_in_every_experiment():
    fabrics = set()
    for name in EXPERIMENTS:
        text = (GALLERY / name / "scenario.toml").read_text()
        fabrics.add(text[text.index("[network]") : text.index("[run]")])
    assert len(fabrics) == 1


def test_every_experiment_is_recorded_with_all_its_cases():
    assert sorted(RECORD["experiments"]) == EXPERIMENTS
    for name, entry in RECORD["experiments"].items():
        labels = list(dict.fromkeys(point.label for point in points(name)))
        assert list(entry["groups"]) == labels
        assert all(list(cases) == labels for cases in entry["numbers"].values())


def test_the_readme_opens_with_the_picture():
    opening = (ROOT / "README.md").read_text().split("\n\n")[1]
    assert opening == f"![{COMPARED.alt}](docs/reproduction/gallery/overview.png)"


def test_pictures_are_of_the_recorded_runs():
    entries = recorded.experiments(RECORD)
    digests = {name: recorded.runs_digest(entry["runs"]) for name, entry in entries.items()}
    digests["overview"] = comparison_page.digest(RECORD)
    found = {file.stem: Image.open(file).text["Source"] for file in PAGE.glob("*.png")}
    assert found == digests


OWN = f"""
like = "{GALLERY}/incast"
title = "Two schemes"
scenario = "scenario.toml"
cases = ["BFC", "DCTCP"]
seeds = [1]
set = ["run.measure=600us", "traffic.0.stop=600us"]
"""
PICTURE = """
title = "Two"
text = "text.md"
heading = "Two schemes"
alt = "two rows"
[[picture]]
experiment = "few"
title = "Incasts"
x = "FCT slowdown"
columns = ["flows, p50"]
[left_out]
"bfc-*" = "variants"
"""


@pytest.fixture
def own(tmp_path):
    """A comparison of one's own, of two schemes."""
    folder = tmp_path / "own"
    (folder / "few").mkdir(parents=True)
    (folder / "few" / "experiment.toml").write_text(OWN)
    shutil.copy(GALLERY / "incast" / "scenario.toml", folder / "few")
    (folder / "comparison.toml").write_text(PICTURE)
    (folder / "text.md").write_text("Why these two.\n")
    (folder / "claims.toml").write_text("")
    return folder


@pytest.mark.real_engine
def test_a_comparison_of_ones_own_has_a_page(own, tmp_path):
    keeping = Keeping(page=tmp_path / "page")
    options = {"root": tmp_path, "out": tmp_path / "out", "slots": 2}
    reproduce_all("own", lambda _: None, keeping=keeping, **options)
    text = (tmp_path / "page" / "own.md").read_text()
    assert text.startswith("# Two\n\n![two rows](own/overview.png)\n\nMade by `xoff reproduce own")
    assert "\nWhy these two.\n" in text
    assert "\n| BFC | bfc | output-queued | 12MB per switch | bfc | drr | ecmp | - |" in text
    assert "| 12MB per switch | pfc | fifo | ecmp | 100KB | dctcp | bdp | go-back-n |" in text
    assert "\n| `bfc-*` | variants |\n" in text
    record = recorded.load(tmp_path / "out" / "results-quick.json")
    slowdowns = record["experiments"]["few"]["numbers"]["flows, p50"]
    assert 10 < slowdowns["BFC"][0] < 24
    drawn = Image.open(tmp_path / "page" / "own" / "overview.png")
    assert drawn.text["Source"] == comparison_page.digest(record)


def test_a_picture_of_an_unknown_column_is_named(tmp_path):
    panel = comparison.PicturePanel("few", "t", "x", ("flow, p50",), log=False)
    compared = comparison.Comparison("Two", "", "Two", "two", (panel,), {})
    record = {"experiments": {"few": {"groups": {}, "numbers": {"flows, p50": {}}}}}
    with pytest.raises(UsageError, match=r"no column `flow, p50` .did you mean `flows, p50`"):
        comparison_page.draw(record, compared, tmp_path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("text.md", "none.md"), "`text`: .*none.md does not exist"),
        (('alt = "two rows"\n', ""), "`alt` is missing"),
        (("columns = [", "colums = ["), "unknown key `colums`"),
    ],
)
def test_a_mistake_in_a_comparison_is_named(own, change, said):
    file = own / "comparison.toml"
    file.write_text(file.read_text().replace(*change))
    with pytest.raises(UsageError, match=said):
        comparison.load(own)


DOTS = """
title = "Dots"
scenario = "scenario.toml"
[[case]]
name = "BFC"
group = "one"
[[plot]]
kind = "dots"
columns = ["buffer"]
[[column]]
title = "buffer"
path = "buffer.p99_bytes"
"""


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (('["buffer"]', '["bufer"]'), "unknown column `bufer` .did you mean `buffer`"),
        (('["buffer"]', "[]"), "requires one or two `columns`"),
        (("[[column]]", '[[plot]]\nkind = "bars"\n[[column]]'), "all plots must be `dots`"),
    ],
)
def test_a_mistake_in_a_plot_of_dots_is_named(paper, change, said):
    file = paper / "demo" / "fig1" / "experiment.toml"
    file.write_text(DOTS.replace(*change))
    with pytest.raises(UsageError, match=said):
        load_experiment(file.parent, "demo/fig1", "quick")


def test_rows_are_sorted_within_their_groups_and_unfinished_flows_stand_at_the_edge():
    numbers = {"x, p99": {"a": [9.0, 8.0, 7.0], "b": [2.0], "c": [float("inf")], "d": [None]}}
    panel = dots.Panel("t", "x", numbers, ["x, p99"], log=True)
    groups = {"c": "first", "d": "first", "a": "second", "b": "second"}
    rows = dots._rows(panel, groups)
    assert rows[0] == ("", "first")
    assert [case for case, _ in rows[3:]] == ["", "b", "a"]
    drawn = dots.figure([panel], groups, "heading")
    (ax,) = drawn.axes
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == ["first", "c", "d", "second", "b", "a"]
    dot = {line.get_ydata()[0]: line for line in ax.get_lines() if line.get_marker() == "o"}
    assert {y: line.get_xdata()[0] for y, line in dot.items()} == {-4: 2.0, -5: 8.0}
    (edge,) = [line for line in ax.get_lines() if line.get_marker() == ">"]
    assert list(edge.get_ydata()) == [-1]


def test_the_recorded_numbers_are_plain_json():
    assert "NaN" not in json.dumps(RECORD["experiments"])
