"""Scenarios that do not fit into memory are refused early; a long check can be interrupted."""

import resource
import signal
import subprocess
import sys
import time

import pytest

import xoff
from xoff.errors import ScenarioError, UsageError

pytestmark = pytest.mark.real_engine

SMALL = """\
scheme = "bfc"
[run]
warmup = "0us"
measure = "50us"
[[traffic]]
kind = "open-loop"
load = 0.5
load_on = "hosts"
"""

ADDRESS_SPACE = 5_000_000 * 1024


def start(*args, **options):
    command = [sys.executable, "-m", "xoff", *map(str, args)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def call(*args, **options):
    process = start(*args, **options)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def with_little_address_space():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))


@pytest.fixture
def small(tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    return file


@pytest.mark.parametrize("command", ["run", "check"])
def test_a_limit_on_memory_is_kept(command, small, tmp_path):
    to = ["--out", tmp_path / "out"] if command == "run" else []
    code, _, err = call(command, small, *to, "--max-memory", "200KB")
    assert code == 2
    assert "needs about" in err
    assert "the limit is 200 KB (--max-memory)" in err
    code, _, err = call(command, small, *to, "--max-memory", "2GB")
    assert (code, err.strip()) == (0, "") or (command == "run" and code == 0)
    code, _, err = call(command, small, *to, "--max-memory", "lots")
    assert code == 2
    assert "max_memory" in err


def test_every_run_of_an_experiment_has_the_limit(tmp_path):
    to = ["--out", tmp_path / "out", "--max-memory", "200KB"]
    code, _, err = call("reproduce", "bfc/fig10", *to)
    assert code == 2
    assert "case `" in err
    assert "the limit is 200 KB (--max-memory)" in err


@pytest.mark.parametrize(
    "setting",
    [
        "leaf_spine.leaves=4294967295",
        "leaf_spine.hosts_per_leaf=60000",
        "leaf_spine.spines=60000",
        "traffic.0.load=1e-300",
    ],
)
@pytest.mark.parametrize("command", ["run", "check"])
def test_no_size_ends_the_process(command, setting, small, tmp_path):
    to = ["--out", tmp_path / "out"] if command == "run" else []
    sets = ["--set", setting, "--set", "leaf_spine.leaves=2000"]
    sets = sets[:2] if "leaves" in setting else sets
    code, _, err = call(command, small, *to, *sets, preexec_fn=with_little_address_space)
    assert code == 2, err
    assert "error: " in err


def test_python_callers_give_sizes_or_bytes():
    for limit in ("200KB", 200_000):
        with pytest.raises(ScenarioError, match="the limit is 200 KB"):
            xoff.check(SMALL, max_memory=limit)
        with pytest.raises(ScenarioError, match="the limit is 200 KB"):
            xoff.run(SMALL, max_memory=limit)
    with pytest.raises(UsageError, match="max_memory"):
        xoff.check(SMALL, max_memory="-1GB")


def test_a_long_check_is_interrupted_at_once(small):
    sets = ["network.topology=fat-tree", "fat_tree.k=48", "scheme=pfc"]
    process = start("check", small, "--any-link", *(x for s in sets for x in ("--set", s)))
    time.sleep(3)
    assert process.poll() is None, process.communicate()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
