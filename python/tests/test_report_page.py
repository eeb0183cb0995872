"""The page of `xoff report` and of `xoff run --live`, in a browser."""

import json
import re
import signal
import subprocess
import sys
import time

import browser
import pytest

import xoff
from xoff import cli

pytestmark = [
    pytest.mark.real_engine,
    pytest.mark.skipif(not (browser.CHROMIUM and browser.DRIVER), reason=browser.MISSING),
]

HOSTILE = "</script><img src=x onerror=document.title='broken'>"

SCENARIO = """
name = "incast"
scheme = "bfc"
network.topology = "leaf-spine"
leaf_spine = { leaves = 3, hosts_per_leaf = 4, spines = 2 }
run.warmup = "20us"
run.measure = "400us"
run.port_samples = "10us"
run.flow_series = "20us"
run.paths = true
[[traffic]]
kind = "open-loop"
sizes = "google"
load = 0.3
load_on = "hosts"
class = "background"
[[traffic]]
kind = "incast"
degree = 8
bytes = "16MB"
start = "60us"
events = 1
class = "incast"
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    driver = browser.start(tmp_path_factory.mktemp("chromium"))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The report of a run under PFC and one under BFC."""
    folder = tmp_path_factory.mktemp("runs")
    for scheme in ("pfc", "bfc"):
        xoff.run(SCENARIO, folder / scheme, set=[f"scheme={scheme}"])
    target = folder / "report.html"
    assert (
        cli.main(["report", *(str(folder / s) for s in ("pfc", "bfc")), "--out", str(target)]) == 0
    )
    return target


@pytest.fixture
def opened(driver, page):
    browser.resize(driver, 1280, 900)
    browser.prefer(driver, "light")
    driver.get(page.as_uri())
    yield driver
    assert driver.get_log("browser") == []


def one(driver, selector):
    return driver.find_element("css selector", selector)


def texts(driver, selector):
    return [found.text for found in driver.find_elements("css selector", selector)]


def choose(driver, panel, label, name):
    """Choose a name in the list with this label, with the keyboard."""
    (found,) = [
        each
        for each in driver.find_elements("css selector", f"#{panel} .choice")
        if each.text.startswith(label)
    ]
    select = found.find_element("css selector", "select")
    for option in select.find_elements("css selector", "option"):
        if option.text == name:
            option.click()
    assert select.get_property("value") == name


def press(element, *keys):
    from selenium.webdriver.common.keys import Keys

    element.send_keys(*(getattr(Keys, key) for key in keys))


def pixels(driver, selector):
    return driver.execute_script(f"return document.querySelector('{selector}').toDataURL()")


def test_every_panel_has_a_chart_with_units(opened):
    assert opened.title == "incast – xoff report"
    headings = texts(opened, "main h2")
    assert headings == texts(opened, "#contents a")
    assert len(headings) == 8
    assert len(opened.find_elements("css selector", ".uplot")) == 7
    labels = opened.execute_script(
        "return [...document.querySelectorAll('.plot')].map(p => p.parentElement.chart.u.axes"
        ".map(a => a.label))"
    )
    known = r"\((bytes|ms|µs|Gb/s|ideal = 1)\)|^Share of|^Bytes|^Utilisation"
    assert all(re.search(known, label) for axes in labels for label in axes), labels


def test_key_figures_mark_what_differs(opened):
    rows = {row.split("\n")[0].split(" ")[0]: row for row in texts(opened, "#overview tbody tr")}
    assert rows["scheme"].split() == ["scheme", "pfc", "bfc"]
    differing = texts(opened, "#overview tr.differs th")
    assert "scheme" in differing
    assert "seed" not in differing
    one(opened, "#overview summary").click()
    settings = texts(opened, "#overview details tbody th")
    assert "scheme" in settings or "switch.hop" in settings


def test_the_statistic_and_the_class_change_the_curves(opened):
    def curve():
        return opened.execute_script(
            "const u = document.querySelector('#slowdown .plot').parentElement.chart.u;"
            "return [u.axes[1].label, JSON.stringify(u.data)]"
        )

    p99 = curve()
    choose(opened, "slowdown", "Statistic", "mean")
    mean = curve()
    assert "p99" in p99[0]
    assert "mean" in mean[0]
    assert p99[1] != mean[1]
    choose(opened, "slowdown", "Class", "incast")
    assert curve()[1] != mean[1]
    choose(opened, "slowdown", "Statistic", "p99.9")
    assert texts(opened, "#slowdown .empty") == ["Too few flows for the p99.9 in any bin of sizes."]


def test_arrow_keys_read_values_of_a_chart(opened):
    plot = one(opened, "#completion .plot")
    press(plot, "HOME", "ARROW_RIGHT")
    where = one(opened, "#completion .where").text
    assert re.fullmatch(r"at [\d.]+ µs", where)
    values = texts(opened, "#completion .legend .value")
    assert len(values) == 2
    press(plot, "END")
    assert one(opened, "#completion .where").text != where
    assert texts(opened, "#completion .legend .value") == ["100 %", "100 %"]
    press(plot, "ESCAPE")
    assert one(opened, "#completion .where").text == ""


def test_dragging_zooms_and_a_double_click_returns(opened):
    from selenium.webdriver import ActionChains

    def span():
        return opened.execute_script(
            "const u = document.querySelector('#completion .plot').parentElement.chart.u;"
            "return [u.scales.x.min, u.scales.x.max]"
        )

    whole, over = span(), one(opened, "#completion .u-over")
    opened.execute_script("arguments[0].scrollIntoView({block: 'center'})", over)
    actions = ActionChains(opened, duration=20)
    actions.move_to_element_with_offset(over, -100, 0).click_and_hold().move_by_offset(150, 0)
    actions.release().perform()
    low, high = span()
    assert whole[0] < low < high < whole[1]
    actions = ActionChains(opened, duration=20)
    actions.double_click(over).perform()
    assert span() == whole


def test_a_legend_hides_its_curve_for_good(opened):
    button = one(opened, "#slowdown .legend button")
    press(button, "SPACE")
    assert button.get_attribute("aria-pressed") == "false"
    choose(opened, "slowdown", "Statistic", "mean")
    assert one(opened, "#slowdown .legend button").get_attribute("aria-pressed") == "false"


def test_the_slider_moves_both_networks(opened):
    slider = one(opened, "#fabric input[type=range]")
    before = [pixels(opened, f"#fabric .pair > :nth-child({n}) canvas") for n in (1, 2)]
    press(slider, "HOME")
    assert one(opened, "#fabric .time").text == "0.030 ms"
    hints = texts(opened, "#fabric .hint")
    after = [pixels(opened, f"#fabric .pair > :nth-child({n}) canvas") for n in (1, 2)]
    assert all(a != b for a, b in zip(before, after, strict=True))
    press(slider, "END")
    assert one(opened, "#fabric .time").text == "0.420 ms"
    assert texts(opened, "#fabric .hint") != hints
    assert slider.get_attribute("aria-valuetext") == "0.420 ms"


def test_the_path_of_a_flow_is_named_and_drawn(opened, page):
    field = one(opened, "#fabric input[type=number]")
    before = pixels(opened, "#fabric .pair > :nth-child(1) canvas")
    assert texts(opened, "#fabric .path") == ["", ""]
    field.send_keys("3")
    for said, scheme in zip(texts(opened, "#fabric .path"), ("pfc", "bfc"), strict=True):
        (names,) = xoff.load(page.parent / scheme).paths_of(3).values()
        assert said == f"flow 3: {' → '.join(names)}"
    assert pixels(opened, "#fabric .pair > :nth-child(1) canvas") != before
    field.send_keys("000000")
    said = "flow 3000000: no path; this page has those of flows 0 to 4,999."
    assert texts(opened, "#fabric .path") == [said, said]
    press(field, *["BACK_SPACE"] * 7)
    assert texts(opened, "#fabric .path") == ["", ""]
    assert pixels(opened, "#fabric .pair > :nth-child(1) canvas") == before


def test_a_congestion_tree_grows_under_pfc_and_not_under_bfc(opened):
    """The page begins at the time with most bytes in queues."""
    pfc, bfc = json.loads(one(opened, "#data").get_property("textContent"))["runs"]
    assert max(pfc["fabric"]["total_bytes"]) > 3 * max(bfc["fabric"]["total_bytes"])
    choose(opened, "fabric", "Show", "bytes held by pauses")
    ports = texts(opened, "#fabric .pair > :nth-child(1) tbody th")
    assert any(port.startswith("spine") for port in ports)
    assert any(re.fullmatch(r"leaf \d → spine \d", port) for port in ports)


def test_play_runs_to_the_end_and_stops(opened):
    choose(opened, "fabric", "Speed", "4×")
    slider, play = one(opened, "#fabric input[type=range]"), one(opened, "#fabric .play")
    press(slider, "HOME")
    press(play, "SPACE")
    assert play.text == "Pause"
    last = slider.get_attribute("max")
    wait(lambda: slider.get_property("value") == last, "the last frame")
    assert play.text == "Play"


def wait(condition, what, timeout_s=20.0):
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end, f"waited for {what}"
        time.sleep(0.05)


def test_dark_follows_the_system_until_it_is_chosen(opened):
    def colour():
        return opened.execute_script("return getComputedStyle(document.body).backgroundColor")

    light = colour()
    browser.prefer(opened, "dark")
    wait(lambda: colour() != light, "the dark theme")
    one(opened, "#theme").click()
    assert colour() == light
    browser.prefer(opened, "light")
    assert colour() == light


def test_a_phone_shows_all_of_it_without_scrolling_sideways(opened):
    browser.resize(opened, 360, 740)
    wait(lambda: one(opened, "#slowdown canvas").size["width"] < 360, "smaller charts")
    width = opened.execute_script("return document.documentElement.scrollWidth")
    assert width <= 360
    buttons = opened.find_elements("css selector", "button, select, input")
    shown = [found for found in buttons if found.is_displayed()]
    assert all(found.rect["x"] + found.rect["width"] <= 360 for found in shown)
    assert min(found.rect["height"] for found in shown) >= 24


def test_hostile_names_are_text(driver, tmp_path):
    text = SCENARIO.replace('"incast"\nscheme', f'"{HOSTILE}"\nscheme').replace(
        'class = "background"', f'class = "{HOSTILE}"'
    )
    xoff.run(text.replace("400us", "40us"), tmp_path / "<b>run")
    target = tmp_path / "page.html"
    assert cli.main(["report", str(tmp_path / "<b>run"), "--out", str(target)]) == 0
    driver.get(target.as_uri())
    assert one(driver, "h1").text == HOSTILE
    assert driver.title == f"{HOSTILE} – xoff report"
    assert driver.find_elements("css selector", "img, b") == []
    assert driver.get_log("browser") == []


def test_a_run_without_samples_says_how_to_record_them(driver, tmp_path):
    plain = ["run.port_samples=0ps", "run.flow_series=0ps", "run.measure=40us", "run.flows=none"]
    plain.append("run.paths=false")
    xoff.run(SCENARIO, tmp_path / "run", set=plain)
    target = tmp_path / "page.html"
    assert cli.main(["report", str(tmp_path / "run"), "--out", str(target)]) == 0
    driver.get(target.as_uri())
    fabric = one(driver, "#fabric .pair .empty").text
    assert "--set run.port_samples=10us" in fabric
    assert "--set run.flow_series=100us" in texts(driver, "#rates .empty")[0]
    assert 'run.flows = "all"' in texts(driver, "#completion .empty")[0]
    assert driver.get_log("browser") == []


@pytest.fixture
def live(tmp_path):
    """A run of several minutes with --live, and the address of its page."""
    file = tmp_path / "long.toml"
    file.write_text(SCENARIO)
    out = tmp_path / "out"
    command = [sys.executable, "-m", "xoff", "run", str(file), "--out", str(out), "--live"]
    longer = ["--set", "run.measure=10s", "--set", "run.port_samples=1ms", "--quiet"]
    longer += ["--set", "run.flow_series=0ps"]
    run = subprocess.Popen([*command, *longer], stderr=subprocess.PIPE, text=True)
    url = re.search(r"http://\S+", run.stderr.readline())[0]
    yield run, url
    run.kill()
    run.wait()
    run.stderr.close()


def test_a_live_page_follows_its_run_until_it_is_interrupted(driver, live):
    run, url = live
    driver.get(url)
    line = one(driver, "#live")
    assert line.text.startswith("Running") or line.text == "The run begins."
    seen = {line.text}
    wait(lambda: seen.add(line.text) or len(seen) > 2, "newer states")
    assert "simulated" in line.text
    assert int(one(driver, "#fabric input[type=range]").get_attribute("max")) >= 0
    run.send_signal(signal.SIGINT)
    assert run.wait(timeout=20) == 130
    wait(lambda: "interrupted" in line.text, "the last state")
    assert driver.get_log("browser") == []
