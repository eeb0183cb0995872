"""`xoff allocator` and `xoff bench control`."""

import contextlib
import json
import os
import pwd
import secrets
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from xoff import allocator_view, cli
from xoff.errors import RunError, UsageError

METRICS = """\
# HELP xoff_allocator_flowlets Flowlets.
# TYPE xoff_allocator_flowlets gauge
xoff_allocator_endpoints 16
xoff_allocator_connections 12
xoff_allocator_flowlets 2345
xoff_allocator_cpu_seconds_total {cpu}
xoff_allocator_starts_total {starts}
xoff_allocator_stands_by 0
xoff_allocator_refused_datagrams_total{{reason="tag"}} 7
xoff_allocator_refused_datagrams_total{{reason="length"}} 0
xoff_allocator_link_demand_ratio{{link="rack 0 to spine 1"}} 0.9871
other_metric 5
"""


def call(capsys, *args):
    code = cli.main(list(map(str, args)))
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


def free_port(kind):
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def write_config(folder: Path, more: str = "") -> Path:
    key = folder / "0.key"
    key.write_text(secrets.token_hex(32))
    key.chmod(0o600)
    file = folder / "allocator.toml"
    file.write_text(
        f"""
listen = "127.0.0.1:{free_port(socket.SOCK_DGRAM)}"
metrics = "127.0.0.1:{free_port(socket.SOCK_STREAM)}"
{more}
[network]
kind = "big-switch"
rate = "10Gbps"
[[endpoint]]
id = 0
address = "127.0.0.1:{free_port(socket.SOCK_DGRAM)}"
key = "0.key"
"""
    )
    return file


@contextlib.contextmanager
def killed_on_failure(process):
    """Lets a failed assertion end the test: `Popen` alone would wait for the process."""
    with process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise


@pytest.mark.real_engine
@pytest.mark.skipif(sys.platform != "linux", reason="the daemon runs on Linux")
def test_an_allocator_runs_without_privileges_until_it_is_stopped(tmp_path, capsys):
    is_root = os.geteuid() == 0
    file = write_config(tmp_path, 'user = "daemon"' if is_root else "")
    assert call(capsys, "allocator", file, "--check") == (0, f"{file}: good\n", "")
    with pytest.raises(RunError, match="no allocator answers"):
        allocator_view.fetch(*allocator_view.metrics_address(str(file)))
    command = [sys.executable, "-m", "xoff", "allocator", str(file)]
    with killed_on_failure(subprocess.Popen(command, stderr=subprocess.PIPE, text=True)) as process:
        assert process.stderr is not None
        started = json.loads(process.stderr.readline())
        assert (started["event"], started["endpoints"]) == ("started", 1)
        status = Path(f"/proc/{process.pid}/status").read_text()
        assert "NoNewPrivs:\t1\n" in status
        if is_root:
            user = pwd.getpwnam("daemon")
            assert "Uid:" + f"\t{user.pw_uid}" * 4 in status
            assert "Gid:" + f"\t{user.pw_gid}" * 4 in status
            assert "Groups:\t \n" in status
        code, out, _ = call(capsys, "allocator", file, "--view")
        assert code == 0
        assert "allocates; 0 of 1 endpoints connected, 0 flowlets" in out
        process.send_signal(signal.SIGTERM)
        rest = [json.loads(line)["event"] for line in process.stderr]
        assert process.wait() == 0
    assert rest[-1] == "stopped"


@pytest.mark.real_engine
@pytest.mark.skipif(sys.platform != "linux", reason="the daemon runs on Linux")
def test_a_wrong_configuration_is_a_usage_error(tmp_path, capsys):
    file = write_config(tmp_path)
    (tmp_path / "0.key").chmod(0o640)
    for options in ([], ["--check"]):
        code, _, err = call(capsys, "allocator", file, *options)
        assert code == 2
        assert "run `chmod 600" in err
    file.write_text("listen = 5")
    code, _, err = call(capsys, "allocator", file)
    assert code == 2
    assert f"{file}: " in err


def test_an_interrupt_is_the_way_to_stop(tmp_path, capsys):
    assert call(capsys, "allocator", tmp_path / "file.toml") == (0, "", "")


def test_the_view_shows_differences_per_second():
    before = allocator_view.parse(METRICS.format(cpu=1.0, starts=100), at=10.0)
    now = allocator_view.parse(METRICS.format(cpu=1.5, starts=700), at=12.0)
    lines = allocator_view.render(now, before).splitlines()
    assert lines[0] == "allocates; 12 of 16 endpoints connected, 2,345 flowlets"
    assert lines[1].startswith("processor 25.0%")
    rows = [" ".join(line.split()) for line in lines]
    assert "starts 300" in rows
    assert "tag 7" in rows
    assert "length 0" not in rows
    assert "rack 0 to spine 1 0.987" in rows


def test_the_view_needs_metrics(tmp_path):
    file = tmp_path / "file.toml"
    file.write_text("")
    with pytest.raises(UsageError, match="needs an address"):
        allocator_view.metrics_address(str(file))
    file.write_text('metrics = "[::1]:9430"')
    assert allocator_view.metrics_address(str(file)) == ("::1", 9430)
    with pytest.raises(UsageError, match="no such file"):
        allocator_view.metrics_address(str(tmp_path / "none"))


def test_bench_of_the_daemon(capsys):
    lines = call(capsys, "bench", "control", "--repeat", "3", "--json")[1].splitlines()
    found = [json.loads(line) for line in lines]
    assert [f["endpoints"] for f in found] == [384, 384, 1536, 1536, 4608, 4608]
    assert {f["runs"] for f in found} == {3}
    rows = [line.split() for line in call(capsys, "bench", "control")[1].splitlines()]
    assert rows[1][:4] == ["384", "3,072", "200", "1,234"]
    code, _, err = call(capsys, "bench", "control", "--threads", "2")
    assert code == 2
    assert "on one thread" in err
