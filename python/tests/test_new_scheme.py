"""`xoff new-scheme`, and engines that `XOFF_ENGINE` names."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import compiled
import pytest

from xoff import cli, engine, native, new_scheme
from xoff.errors import UsageError
from xoff.toml_text import parse_toml

ROOT = Path(__file__).parents[2]


def xoff(*arguments, file=None):
    environment = dict(os.environ)
    if file is not None:
        environment[native.VARIABLE] = str(file)
    return subprocess.run(
        [sys.executable, "-m", "xoff", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.real_engine
def test_a_scheme_is_written_with_its_name_everywhere(tmp_path, capsys):
    folder = tmp_path / "crate"
    assert cli.main(["new-scheme", "slow_start", "--out", str(folder)]) == 0
    said = capsys.readouterr().out
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert all(str(file) in said for file in files)
    for file in files:
        assert "@" not in file.read_text(), file
    manifest = parse_toml((folder / "Cargo.toml").read_text())
    assert manifest["package"]["name"] == "slow_start"
    assert manifest["dependencies"]["xoff-host"] == {"path": str(ROOT / "crates" / "xoff-host")}
    code = (folder / "src" / "lib.rs").read_text()
    assert "pub struct SlowStartConfig in" in code
    assert "xoff_host::add_control!(SlowStartConfig);" in code


@pytest.mark.real_engine
def test_without_a_checkout_it_depends_on_published_crates(tmp_path):
    new_scheme.write("mine", tmp_path / "mine", None)
    manifest = parse_toml((tmp_path / "mine" / "Cargo.toml").read_text())
    version = engine.version()
    assert manifest["dependencies"]["xoff-core"] == {"version": version}
    assert manifest["dependencies"]["xoff-python"] == {
        "version": version,
        "features": ["extension-module"],
        "optional": True,
    }


@pytest.mark.real_engine
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("My-Scheme", "e.g. my_scheme"),
        ("2fast", "begin with a letter"),
        ("a__b", "single underscores"),
        ("loop", "cannot name a crate"),
        ("xoffy", "cannot name a crate"),
        ("bfc", "already"),
        ("newreno", "already"),
        ("traffic", "already"),
    ],
)
def test_names_that_cannot_be_used_are_refused(name, said, tmp_path):
    with pytest.raises(UsageError, match=said):
        new_scheme.write(name, tmp_path / "new", None)
    assert not (tmp_path / "new").exists()


@pytest.mark.real_engine
def test_nothing_is_overwritten_and_other_folders_of_crates_are_refused(tmp_path):
    with pytest.raises(UsageError, match="exists; choose another folder"):
        new_scheme.write("mine", tmp_path, None)
    with pytest.raises(UsageError, match="has no crate xoff-core"):
        new_scheme.write("mine", tmp_path / "new", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_template_asks_for_the_compiler_of_the_crates():
    workspace = parse_toml((ROOT / "Cargo.toml").read_text())
    assert workspace["workspace"]["package"]["rust-version"] == new_scheme.RUST


@pytest.mark.real_engine
def test_an_engine_that_cannot_be_loaded_is_an_error_that_names_it(tmp_path):
    file = tmp_path / "engine.so"
    for content in (None, b"not a library"):
        if content is not None:
            file.write_bytes(content)
        done = xoff("presets", file=file)
        assert done.returncode == 2
        assert f"error: {native.VARIABLE}={file}: " in done.stderr
        assert "unset it" in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.real_engine
def test_an_engine_of_another_version_is_refused(monkeypatch):
    own = engine._native.__file__
    monkeypatch.setattr(native, "version", lambda _: "0.0.1")
    with pytest.raises(ImportError, match=r"this engine has version .*, xoff has 0\.0\.1"):
        native._from_file(own)


@pytest.mark.real_engine
def test_a_copy_of_the_own_engine_can_be_named(tmp_path):
    copy = tmp_path / "copy.so"
    shutil.copy2(engine._native.__file__, copy)
    done = xoff("presets", "--json", file=copy)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == len(engine.presets())


@pytest.mark.real_engine
@compiled.on_request
@pytest.mark.skipif(shutil.which("cargo") is None, reason="there is no cargo to build with")
def test_the_crate_passes_its_tests_and_is_an_engine(tmp_path):
    folder, target = tmp_path / "mine", ROOT / "target" / "new-scheme"
    new_scheme.write("mine", folder, ROOT / "crates")
    shutil.copy2(ROOT / "Cargo.lock", folder)  # the versions that are here already
    cargo = ["cargo", "--quiet"]
    options = ["--manifest-path", str(folder / "Cargo.toml"), "--target-dir", str(target)]
    subprocess.run([*cargo, "test", *options], check=True)
    subprocess.run([*cargo, "clippy", *options, "--", "-D", "warnings"], check=True)
    subprocess.run([*cargo, "build", "--features", "engine", *options], check=True)
    file = target / "debug" / "libmine.so"
    shown = xoff("presets", "mine", file=file)
    assert 'congestion = "mine"' in shown.stdout, shown.stderr
    scenario, out = folder / "scenario.toml", tmp_path / "out"
    done = xoff("run", str(scenario), "--set", "mine.decrease=0.8", "--out", str(out), file=file)
    assert done.returncode == 0, done.stderr
    summary = json.loads((out / "summary.json").read_text())
    assert summary["flows"]["finished"] > 100
    refused = xoff("check", str(scenario), "--set", "mine.decrease=1.0", file=file)
    assert refused.returncode == 2
    assert "below 1" in refused.stderr
