"""Scenarios as values: TOML and back, changes, names of settings, and what notebooks show."""

import copy
import pickle
import random
from pathlib import Path

import numpy as np
import pytest

import xoff
from xoff import settings, toml_text
from xoff.scenarios import Scenario

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "scenarios").rglob("*.toml"))
SCENARIOS = [path for path in FILES if "scheme" in toml_text.parse_toml(path.read_text())]
INCAST = {"kind": "incast", "victims": 0, "degree": 3, "bytes": "30KB", "period": "20us"}
HOSTILE = "<script>alert(1)</script>\x1b[2J&\"'"

pytestmark = pytest.mark.real_engine


@pytest.fixture(scope="module")
def base():
    return Scenario(
        name="small",
        scheme="bfc",
        network={"topology": "star"},
        star={"hosts": 4},
        run={"warmup": "0us", "measure": "100us"},
        traffic=[INCAST],
    )


# Presets that refuse the default network or its traffic, and why.
REFUSED = {
    "bfc-incast-label": "no traffic is labelled",
    **dict.fromkeys(("pfc-wdrop", "pfc-wstop", "capfc-max", "capfc-cal"), "loses packets"),
    **dict.fromkeys(("detail", "detail-pfc"), "loses packets"),
}


def test_every_preset_is_a_scenario_that_survives_toml():
    for name in xoff.presets():
        scenario = xoff.scenario(name)
        assert Scenario.from_toml(scenario.to_toml()) == scenario
        if name not in REFUSED:
            xoff.check(scenario)
            continue
        with pytest.raises(xoff.ScenarioError, match=REFUSED[name]):
            xoff.check(scenario)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_a_file_means_the_same_as_a_value(path, tmp_path):
    scenario = Scenario.from_toml(path)
    copied = tmp_path / "copy.toml"
    copied.write_text(scenario.to_toml())
    assert Scenario.from_toml(copied) == scenario
    assert Scenario(scenario.tables) == scenario
    # A value names files by their whole path.
    assert xoff.check(scenario).replace(f'= "{path.parent}/', '= "') == xoff.check(path)


def test_files_that_a_scenario_names_are_found_from_anywhere(tmp_path, monkeypatch):
    (tmp_path / "flows.csv").write_text("src,dst,size_bytes,start_ps\n0,1,5000,0\n")
    file = tmp_path / "listed.toml"
    text = '[network]\ntopology = "star"\n[[traffic]]\nkind = "list"\nfile = "flows.csv"\n'
    file.write_text(f'scheme = "bfc"\n{text}')
    monkeypatch.chdir(tmp_path)
    scenario = Scenario.from_toml("listed.toml")
    monkeypatch.chdir("/")
    assert scenario.with_(warmup="0us", measure="50us").run().flows.num_rows == 1


def test_equal_settings_are_one_value_in_any_order(base):
    other = Scenario(traffic=[dict(reversed(INCAST.items()))], scheme="bfc", name="small")
    other = other.with_({"run.measure": "100us"}).with_(star={"hosts": 4}, warmup="0us")
    other = other.with_({"network.topology": "star"})
    assert other == base
    assert len({other, base}) == 1
    assert pickle.loads(pickle.dumps(base)) == copy.deepcopy(base) == base
    assert base != base.with_(seed=2)
    with pytest.raises(AttributeError):
        base.name = "another"


def test_changes_leave_the_scenario_as_it_is(base):
    before = base.to_toml()
    entries = [dict(INCAST)]
    changed = base.with_(traffic=entries, measure="1ms", run={"monitor": np.int64(2)})
    entries[0]["degree"] = 99
    base.tables["traffic"][0]["degree"] = 99
    base.without("measure")
    assert base.to_toml() == before
    assert changed.tables["run"] == {"warmup": "0us", "measure": "1ms", "monitor": "2"}
    assert changed.tables["traffic"][0]["degree"] == 3


def test_the_last_part_of_a_path_names_the_only_setting_with_it(base):
    paths = list(settings.paths(base.tables))
    last = [path.rpartition(".")[2] for path in paths]
    alone = [path for path in paths if last.count(path.rpartition(".")[2]) == 1 and "." in path]
    assert len(alone) > 200
    for path in alone:
        name = path.rpartition(".")[2]
        if name not in settings.top_level():
            assert settings.resolved(name, base.tables, pytest.fail) == path


def test_among_several_places_the_one_in_force_is_meant(base):
    fabric = xoff.scenario("dctcp").with_(hosts_per_leaf=2)
    assert fabric.tables["leaf_spine"] == {"hosts_per_leaf": 2}
    two = fabric.with_(topology="two-dc").without("hosts_per_leaf").with_(hosts_per_leaf=2)
    assert two.tables["two_dc"] == {"hosts_per_leaf": 2}
    assert base.with_({"traffic.incast.degree": 2}) == base.with_(degree=2)
    listed = [{"kind": "incast", "class": name} for name in ("a", "b")]
    assert base.with_(traffic=listed).with_({"traffic.b.degree": 2}).tables["traffic"][1] == {
        **listed[1],
        "degree": 2,
    }


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"load": 0.8}, '"load"\nhelp: it is a setting of [[traffic]] with kind = "open-loop"'),
        ({"dgree": 3}, 'did you mean "traffic.0.degree"'),
        ({"nme": "x"}, 'help: did you mean "name"?'),
        ({"kind": "x"}, '"transport.kind", "buffer.kind" or "traffic.0.kind"'),
        ({"run.monitr": 0}, 'unknown setting "run.monitr"\nhelp: did you mean "run.monitor"'),
        ({"rnu.monitor": 0}, 'unknown section "rnu" in "rnu.monitor"\nhelp: did you mean "run"'),
        ({"traffic.1.degree": 3}, '[[traffic]] has no entry "1"\nhelp: it has 0 (incast)'),
        ({"traffic.web.load": 3}, '[[traffic]] has no entry "web"'),
        ({"run": 3}, '"run" is a section: give a dict, not 3'),
        ({"run": {"mesure": "1ms"}}, 'did you mean "run.measure"'),
        ({"traffic": {"kind": "incast"}}, '"traffic" is a list of dicts'),
        ({"traffic": [{"kind": "incats"}]}, 'a dict with a "kind", which is one of open-loop'),
        ({"traffic": [{**INCAST, "dgree": 3}]}, 'did you mean "traffic.0.degree"'),
        ({"measure": None}, '"run.measure" takes text, a number or a truth value'),
        ({"name": "\ud800"}, "not valid Unicode"),
    ],
)
def test_a_wrong_name_is_an_error_at_once_with_what_to_write(base, change, said):
    with pytest.raises(xoff.UsageError) as error:
        base.with_(change)
    assert said in str(error.value)


def test_values_are_checked_by_the_engine(base):
    with pytest.raises(xoff.ScenarioError, match="a duration with its unit"):
        base.with_(measure=4).check()
    with pytest.raises(xoff.ScenarioError, match=r'"run\.drain" is not set'):
        base.without("drain")
    with pytest.raises(xoff.UsageError, match=r"neither a preset nor a file \(did you mean `bfc`"):
        xoff.scenario("bfcc")
    with pytest.raises(xoff.ScenarioError, match="unclosed array"):
        Scenario.from_toml("x = [\n")


def test_overrides_take_short_names_and_numbers_of_hosts(base):
    text = base.to_toml()
    for short, whole in (
        ("degree=2", "traffic.0.degree=2"),
        ("victims=1", 'traffic.0.victims="1"'),
        ("run.monitor=0", 'run.monitor="0"'),
        ("traffic.incast.degree=2", "traffic.0.degree=2"),
    ):
        assert xoff.check(text, set=[short]) == xoff.check(text, set=[whole])
    for wrong, said in (
        ("load=0.8", '--> --set: load=0.8\nhelp: it is a setting of [[traffic]] with kind = "op'),
        ("run.measure=4", "found the number 4 without a unit"),
        ("run.mesure=4us", 'did you mean "measure"'),
    ):
        with pytest.raises(xoff.ScenarioError) as error:
            xoff.check(text, set=wrong)
        assert said in str(error.value)


def test_a_checked_scenario_has_defaults_and_derived_values(base):
    checked = base.check()
    assert checked.settings["run"]["measure"] == "100us"
    assert checked.settings["buffer"]["kind"] == "shared"
    assert checked.derived["hosts"] == "4"
    assert "no cycle" in checked.pause_cycles
    assert base.with_(scheme="ideal-fq").check().pause_cycles is None


def test_any_value_survives_toml():
    draw = random.Random(1)
    for _ in range(300):
        signs = (draw.choice((draw.randrange(160), 0x2028, 0x1F600)) for _ in range(8))
        text = "".join(map(chr, signs))[: draw.randrange(9)]
        number = draw.choice((draw.uniform(-1e9, 1e9), draw.randrange(-(2**63), 2**64), 1e300, 0.0))
        table = {text: text, "n": number, "b": draw.random() < 0.5, "list": [text, [number]]}
        tables = {text + "x": number, "section": table, "entries": [table, {"inner": table}]}
        assert toml_text.parse_toml(toml_text.write(tables)) == tables
    assert toml_text.write({"x": float("inf"), "y": float("-inf")}) == "x = +inf\ny = -inf\n"


def test_notebooks_show_text_and_never_markup(base):
    scenario = base.with_(name=HOSTILE, traffic=[{**INCAST, "class": HOSTILE}])
    result = scenario.run()
    shown = [scenario, result, scenario.check(), xoff.compare({HOSTILE: result})]
    for value in shown:
        html = value._repr_html_()
        assert "&lt;script&gt;" in html
        assert "<script" not in html
    assert result.flows["class"].unique().to_pylist() == [HOSTILE]
    assert HOSTILE not in repr(scenario)
