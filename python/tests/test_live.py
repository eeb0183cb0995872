"""The live view of a run, without a browser: its server, its states, its end."""

import http.client
import json
import threading
import time
from urllib.parse import urlsplit

import pytest

import xoff
from xoff.html_report import live, payload
from xoff.html_report.server import Server, State

SCENARIO = """
name = "live"
scheme = "bfc"
network.topology = "leaf-spine"
leaf_spine = { leaves = 2, hosts_per_leaf = 2, spines = 1 }
run = { warmup = "10us", measure = "200us", port_samples = "20us" }
[[traffic]]
kind = "open-loop"
sizes = "google"
load = 0.3
load_on = "hosts"
"""


def ask(url, path=None, **headers):
    """Return the status, the headers and the text of an answer."""
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=10)
    connection.request("GET", address.path if path is None else path, headers=headers)
    answer = connection.getresponse()
    found = answer.status, dict(answer.headers), answer.read().decode()
    connection.close()
    return found


@pytest.fixture
def server():
    state = State()
    state.publish(1, '{"live":{"version":1}}')
    found = Server(state)
    yield found, state
    found.close()


def test_the_page_and_its_data_are_at_the_secret_address(server):
    found, state = server
    address = urlsplit(found.url)
    assert address.hostname == "127.0.0.1"
    assert len(address.path) > 32
    status, headers, text = ask(found.url)
    assert status == 200
    assert 'id="data">{"live":{"version":1}}</script>' in text
    policy = headers["Content-Security-Policy"]
    assert "connect-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["Cache-Control"] == "no-store"
    assert ask(found.url, f"{address.path}data?after=1")[0] == 204
    state.publish(2, "{}")
    assert ask(found.url, f"{address.path}data?after=1")[::2] == (200, "{}")


def test_no_other_address_has_an_answer(server):
    found, _ = server
    path = urlsplit(found.url).path
    wrong = ["/", "//", "/data", "/%C3%A9/", "/%2e%2e/%2e%2e/etc/passwd", path[:-1]]
    wrong += [
        f"{path[:-2]}/",
        *(path + end for end in ("../", "data/", "../../etc/passwd", "x.js")),
    ]
    answers = {one: ask(found.url, one)[0] for one in wrong}
    assert answers == dict.fromkeys(wrong, 404)


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", ""])
def test_another_host_name_is_refused(server, host):
    """A page elsewhere could let its own name lead to this machine."""
    assert ask(server[0].url, Host=host)[0] == 404


def test_the_name_of_this_machine_is_not_refused(server):
    found, _ = server
    assert ask(found.url, Host=f"localhost:{found.port}")[0] == 200


def test_a_used_port_is_an_error(server):
    with pytest.raises(xoff.UsageError, match=f"cannot listen on 127.0.0.1:{server[0].port}"):
        Server(State(), server[0].port)


def test_a_used_port_is_an_error_before_the_run(server, tmp_path):
    view = live.LiveView(tmp_path / "out", print, server[0].port)
    with pytest.raises(xoff.UsageError, match="cannot listen"):
        view.__enter__()


class Viewer:
    """An open page: it fetches states until the last one."""

    def __init__(self):
        self.states, self.url = [], None
        self._thread = threading.Thread(target=self._fetch)

    def announce(self, url):
        """Open the page."""
        self.url = url
        assert ask(url)[0] == 200
        self._thread.start()

    def _fetch(self):
        while not self.states or self.states[-1]["live"]["state"] == "running":
            status, _, text = ask(self.url, f"{urlsplit(self.url).path}data?after=0")
            assert status == 200
            self.states.append(json.loads(text))
            time.sleep(0.02)

    def last(self):
        """Return the last state."""
        self._thread.join(10)
        return self.states[-1]


@pytest.mark.real_engine
def test_states_go_from_the_beginning_to_the_result(tmp_path, monkeypatch):
    monkeypatch.setattr(live, "RENEW_S", 0.0)
    monkeypatch.setattr(live, "SHARE_OF_TIME", 1e9)
    viewer = Viewer()
    with live.LiveView(tmp_path / "out", viewer.announce) as view:
        slow = lambda _: time.sleep(0.1)  # noqa: E731
        result = xoff.run(SCENARIO, tmp_path / "out", watcher=view, progress=slow)
    last = viewer.last()
    assert viewer.states[0]["live"]["state"] == "running"
    assert last["live"]["state"] == "done"
    assert "xoff report" in last["live"]["text"]
    (run,) = last["runs"]
    assert (run["label"], run["digest"]) == ("out", result.digest)
    assert run["completion"][0]["rows"] == result.flows.num_rows
    assert run["fabric"]["ms"] == [0.03, 0.05, 0.07, 0.09, 0.11, 0.13, 0.15, 0.17, 0.19, 0.21]
    with pytest.raises(OSError, match="refused"):
        ask(viewer.url)


@pytest.mark.real_engine
@pytest.mark.parametrize(
    ("error", "raised", "state"),
    [(KeyboardInterrupt, KeyboardInterrupt, "stopped"), (xoff.RunError, xoff.RunError, "failed")],
)
def test_an_open_page_learns_that_the_run_has_ended(tmp_path, error, raised, state):
    def end(at):
        raise error("stuck")

    viewer = Viewer()
    with (
        pytest.raises(raised),
        live.LiveView(tmp_path / "out", viewer.announce) as view,
    ):
        xoff.run(SCENARIO, tmp_path / "out", watcher=view, progress=end)
    assert viewer.last()["live"]["state"] == state
    assert (tmp_path / "out.partial").exists()


@pytest.mark.real_engine
def test_an_open_page_learns_that_the_run_has_ended_early(tmp_path):
    viewer = Viewer()
    with (
        pytest.raises(xoff.EndedEarly) as caught,
        live.LiveView(tmp_path / "out", viewer.announce) as view,
    ):
        xoff.run(SCENARIO, tmp_path / "out", watcher=view, max_packet_hops=100)
    last = viewer.last()
    assert last["live"]["state"] == "stopped"
    assert "The run ended early by its limit of 100 packet-hops" in last["live"]["text"]
    assert last["runs"][0]["digest"] == caught.value.result.digest


@pytest.mark.real_engine
def test_the_end_of_a_run_waits_for_no_page_that_was_never_open(tmp_path):
    began = time.monotonic()
    with live.LiveView(tmp_path / "out", lambda url: None) as view:
        xoff.run(SCENARIO, tmp_path / "out", watcher=view)
        done = time.monotonic()
    assert time.monotonic() - done < live.LAST_STATE_S
    assert began < done


@pytest.mark.real_engine
def test_watching_changes_no_result(tmp_path):
    with live.LiveView(tmp_path / "out", lambda url: None) as view:
        seen = xoff.run(SCENARIO, watcher=view)
    assert seen.digest == xoff.run(SCENARIO).digest


@pytest.mark.real_engine
def test_a_run_without_packets_has_no_live_view(tmp_path):
    study = """name = "x"\nengine = "convergence"\n[convergence]\nnetworks = 2\n"""
    with (
        live.LiveView(tmp_path / "out", lambda url: None) as view,
        pytest.raises(xoff.UsageError, match="requires a run with packets"),
    ):
        xoff.run(study, tmp_path / "out", watcher=view)
    assert not list(tmp_path.iterdir())


@pytest.mark.real_engine
def test_the_last_state_has_the_flows_of_the_whole_run(tmp_path, monkeypatch):
    monkeypatch.setattr(live, "MOST_ROWS", 20)
    viewer = Viewer()
    settings = ["run.flow_series=10us"]
    with live.LiveView(tmp_path / "out", viewer.announce) as view:
        result = xoff.run(SCENARIO, tmp_path / "out", set=settings, watcher=view)
    (run,) = viewer.last()["runs"]
    whole = payload.of_results({"out": result})["runs"][0]["rates"]
    assert whole
    assert run["rates"] == whole
