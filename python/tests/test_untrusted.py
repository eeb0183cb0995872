"""Names and results from someone else: shown as text, never run, never a place on the disk."""

import ast
import json
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import browser
import pytest

import xoff
from xoff import cli, text
from xoff.html_report import document
from xoff.sweeps import sweep
from xoff.toml_text import parse_toml

PACKAGE = Path(xoff.__file__).parent

BROKEN = 'document.title="broken"'
HOSTILE = {
    "script": f"</script><script>{BROKEN}</script>",
    "attribute": f'"><img src=x onerror={BROKEN}>',
    "quotes": f"' onmouseover='{BROKEN}' \"",
    "comment": "<!--<script>",
    "place to fill": "{{scripts}}{{data}}{{policy}}",
    "member of objects": "__proto__",
    "another member": "constructor",
    "formula": "$\\frac{$",
    "table": "a|b\r\n| c | d |",
    "line ends": "a\u2028\u2029b",
    "direction": "\u202ecba",
    "terminal": "\x1b]0;owned\x07\x1b[2J",
    "nul": "a\0b",
    "path": "../../../../tmp/broken",
    "link": "[x](javascript:alert(1))",
    "escape": "\\u{41}\\0\\",
    "long": "a" * 3000,
    "empty": "",
}
names = pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)

SCENARIO = """
name = {name}
scheme = "bfc"
leaf_spine = {{ leaves = 2, hosts_per_leaf = 2, spines = 1 }}
[run]
warmup = "10us"
measure = "100us"
port_samples = "20us"
flow_series = "20us"
paths = true
[[traffic]]
kind = "open-loop"
sizes = "google"
load = 0.3
load_on = "hosts"
class = {name}
"""

# What runs or unpickles what it reads.
RUNS_DATA = {"pickle", "cPickle", "marshal", "shelve", "dill", "joblib", "yaml"}
CALLS = {"eval", "exec", "compile"}


def written(tmp_path, name):
    """Write the scenario with a name of its own, and of its class."""
    file = tmp_path / "scenario.toml"
    file.write_text(SCENARIO.format(name=json.dumps(name)), encoding="utf-8")
    return file


def call(capsys, *args):
    assert cli.main(list(map(str, args))) == 0
    found = capsys.readouterr()
    assert not {"\x1b", "\u202e", "\0", "\x07"} & {*found.out, *found.err}
    return found.out


def test_no_module_runs_what_it_reads():
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found = {one.name.split(".")[0] for one in node.names}
            elif isinstance(node, ast.ImportFrom):
                found = {str(node.module).split(".")[0]}
            elif isinstance(node, ast.Call):
                assert not (isinstance(node.func, ast.Name) and node.func.id in CALLS), file
                keywords = {one.arg: one.value for one in node.keywords}
                for name in ("allow_pickle", "shell"):
                    value = keywords.get(name)
                    assert getattr(value, "value", False) is not True, (file, name)
                continue
            else:
                continue
            assert not found & RUNS_DATA, file


class Elements(HTMLParser):
    """The elements of a page, with the names of their attributes, and the page's data."""

    def __init__(self, page):
        super().__init__()
        self.found, self.data, self._is_data = [], "", False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, tuple(sorted(name for name, _ in attributes))))
        self._is_data = ("id", "data") in attributes

    def handle_data(self, data):
        if self._is_data:
            self.data += data


@names
@pytest.mark.real_engine
def test_a_name_is_text_in_every_output(tmp_path, capsys, name):
    file, out = written(tmp_path, name), tmp_path / "out"
    call(capsys, "check", file)
    call(capsys, "run", file, "--out", out)
    assert parse_toml((out / "scenario.toml").read_text(encoding="utf-8"))["name"] == name
    assert xoff.load(out).flows["class"].unique().to_pylist() == [name]
    call(capsys, "report", out, "--out", tmp_path / "report.html")
    page = Elements((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert page.found == Elements(document.html({})).found
    assert json.loads(page.data)["runs"][0]["name"] == name
    call(capsys, "plot", out, "--out", tmp_path / "figure")
    tags = {element.tag.split("}")[-1] for element in ET.parse(tmp_path / "figure.svg").iter()}
    assert not tags & {"script", "image", "a", "foreignObject"}
    assert xoff.run(out / "scenario.toml").digest == xoff.load(out).digest
    left = {"scenario.toml", "out", "report.html", "figure.svg", "figure.png"}
    assert {one.name for one in tmp_path.iterdir()} == left


@pytest.mark.real_engine
def test_a_sweep_over_names(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scenario = xoff.scenario(written(tmp_path, HOSTILE["path"])).without("port_samples")
    values = [HOSTILE[key] for key in ("script", "formula", "table", "path", "direction")]
    found = sweep(scenario, grid={"name": values}, progress=False)
    assert found.failures == {}
    inside = {one.name for one in (tmp_path / "out").iterdir()}
    assert len(inside) == 1
    assert {one.name for one in tmp_path.iterdir()} == {"scenario.toml", "out"}
    (folder,) = (tmp_path / "out").iterdir()
    rows = [line for line in (folder / "table.md").read_text().splitlines() if line[:1] == "|"]
    assert len(rows) == 2 + len(values)
    assert {row.replace("\\|", "").count("|") for row in rows} == {rows[0].count("|")}
    assert "<script" not in "".join(rows)
    assert (folder / "figure.svg").exists()


def test_cells_of_tables_stay_cells():
    shown = text.markdown(["x"], [["a|b"], ["a\\|b"], ["a\nb"], ["<b>"], ["1 < 2 <= 3"]])
    assert shown.splitlines()[2:] == [
        "| a\\|b |",
        "| a\\|b |",
        "| a b |",
        "| &lt;b> |",
        "| 1 < 2 <= 3 |",
    ]


@pytest.mark.real_engine
@pytest.mark.skipif(not (browser.CHROMIUM and browser.DRIVER), reason=browser.MISSING)
def test_a_browser_shows_names_and_runs_none(tmp_path, capsys):
    pages = {}
    for key, name in HOSTILE.items():
        out = tmp_path / f"run {len(pages)} {name[:40]}".replace("/", "_").replace("\0", "_")
        xoff.run(written(tmp_path, name), out)
        pages[key] = tmp_path / f"{len(pages)}.html"
        call(capsys, "report", out, "--out", pages[key])
    driver = browser.start(tmp_path / "profile")
    try:
        for key, page in pages.items():
            driver.get(page.as_uri())
            assert driver.get_log("browser") == [], key
            assert driver.title.endswith("xoff report"), key
            assert driver.execute_script(LOOK) == [8, 0, 0], key
            shown = driver.execute_script("return document.getElementById('title').textContent")
            assert shown.replace("\ufffd", "\0") == HOSTILE[key], key
    finally:
        driver.quit()


# The panels, elements that load or link something, attributes that run something.
LOOK = """
const all = [...document.querySelectorAll('*')];
const runs = (a) => a.name.startsWith('on') || /^javascript:/i.test(a.value);
return [
  document.querySelectorAll('main section').length,
  document.querySelectorAll('img, iframe, object, embed, form, base, link').length,
  all.filter((element) => [...element.attributes].some(runs)).length,
];
"""


@names
def test_a_name_is_text_in_the_live_page(name):
    state = {"state": "failed", "text": f"The run failed: {name}", "version": 1}
    data = {"runs": [{"name": name, "label": name}], "live": state}
    page = Elements(document.page(document.as_json(data), live=True))
    assert page.found == Elements(document.page("{}", live=True)).found
    assert json.loads(page.data) == data
