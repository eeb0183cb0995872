"""Files of the project that no other test reads: workflows, templates, Makefile, versions."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from xoff.strict import tomllib

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
TEMPLATES = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))
CRATES = sorted(ROOT.joinpath("crates").iterdir())
# YAML 1.1, which PyYAML reads, takes the bare word `on` for a boolean.
ON = True


def load(path):
    return yaml.safe_load(path.read_text())


def steps(workflow):
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_the_expected_workflows_exist():
    assert [path.stem for path in WORKFLOWS] == ["ci", "deny", "docs", "miri", "msrv", "wheels"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_can_be_run(path):
    workflow = load(path)
    assert workflow["name"] == path.stem
    assert workflow["permissions"] == {"contents": "read"}
    assert workflow[ON].keys() <= {"push", "pull_request", "schedule", "workflow_dispatch"}
    for name, job in workflow["jobs"].items():
        assert job.keys() >= {"runs-on", "timeout-minutes", "steps"}, name
    for step in steps(workflow):
        assert ("uses" in step) != ("run" in step), step
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w-]+@(v\d+|stable|nightly)", step["uses"])
        else:
            checked = subprocess.run(["bash", "-n"], input=step["run"], text=True, check=False)
            assert checked.returncode == 0, step["run"]


def test_workflows_call_targets_and_files_that_exist():
    targets = makefile_targets()
    for step in (step for path in WORKFLOWS for step in steps(load(path))):
        command = step.get("run", "")
        assert set(re.findall(r"\bmake ([\w-]+)", command)) <= targets
        assert all((ROOT / file).exists() for file in re.findall(r"scenarios/\S+", command))
    full = load(ROOT / ".github/workflows/ci.yml")["jobs"]["all"]["steps"]
    assert {"run": ".ci/run"} in full


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_an_issue_form_has_fields_with_unique_names(path):
    form = load(path)
    if path.stem == "config":
        assert form["blank_issues_enabled"] is True
        return
    assert form.keys() == {"name", "description", "labels", "body"}
    names = [field["id"] for field in form["body"]]
    assert len(names) == len(set(names))
    for field in form["body"]:
        assert field["type"] in {"textarea", "input"}
        assert field["attributes"]["label"]


def makefile_targets():
    text = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^([a-z-]+):(?!=)", text, re.M)
    assert len(targets) == len(set(targets)), "a target is defined twice"
    return set(targets)


def test_every_target_is_phony_and_has_help():
    text = (ROOT / "Makefile").read_text()
    phony = re.search(r"^\.PHONY: (.*)$", text, re.M)[1].split()
    assert set(phony) == makefile_targets()
    shown = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert {line.split()[0] for line in shown.stdout.splitlines()} == makefile_targets()


def test_the_hooks_before_a_commit_are_linters_of_make_lint():
    makefile = (ROOT / "Makefile").read_text()
    hooks = load(ROOT / ".pre-commit-config.yaml")["repos"][0]["hooks"]
    assert {hook["id"] for hook in hooks} == {
        "rustfmt",
        "clippy",
        "ruff-check",
        "ruff-format",
        "mypy",
    }
    for hook in hooks:
        assert f"\t{hook['entry']}" in makefile, hook["entry"]


def test_the_version_is_the_same_everywhere():
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
    version = workspace["package"]["version"]
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == version
    assert load(ROOT / "CITATION.cff")["version"] == version
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    own = {p["name"]: p["version"] for p in locked if p["name"].startswith("xoff-")}
    assert own == dict.fromkeys(own, version)
    assert own.keys() == {path.name for path in (ROOT / "crates").iterdir()}


def test_wheels_are_stripped_and_held_to_a_size():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["tool"]["maturin"]["strip"] is True
    assert "MATURIN_STRIP=false" in (ROOT / "Makefile").read_text()
    said = [
        step.get("run", step.get("uses"))
        for step in load(ROOT / ".github/workflows/wheels.yml")["jobs"]["wheel"]["steps"]
    ]
    check = said.index('test "$(wc -c < dist/*.whl)" -le 8000000')
    assert check < said.index("actions/upload-artifact@v4")


@pytest.mark.parametrize("crate", CRATES, ids=lambda crate: crate.name)
def test_a_crate_can_be_packaged(crate):
    package = tomllib.loads((crate / "Cargo.toml").read_text())["package"]
    assert package["name"] == crate.name
    assert package["description"][0].isupper()
    for key in ("license", "readme", "keywords", "categories", "exclude"):
        assert package[key] == {"workspace": True}, key
    # A package holds the files of its own folder alone.
    for file in (crate / "src").rglob("*.rs"):
        for named in re.findall(r'include_(?:str|bytes)!\(\s*"([^"]+)"', file.read_text()):
            assert (file.parent / named).resolve().is_relative_to(crate), f"{file}: {named}"


def test_crates_depend_on_each_other_by_path_and_version():
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
    version = workspace["package"]["version"]
    own = {name: one for name, one in workspace["dependencies"].items() if "xoff" in name}
    assert own == {name: {"path": f"crates/{name}", "version": version} for name in own}


def test_dependencies_come_from_crates_io_alone():
    deny = tomllib.loads((ROOT / "deny.toml").read_text())
    assert deny["sources"]["unknown-registry"] == deny["sources"]["unknown-git"] == "deny"
    index = "registry+https://github.com/rust-lang/crates.io-index"
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    assert {package.get("source", index) for package in locked} == {index}


@pytest.mark.skipif(shutil.which("cargo-deny") is None, reason="cargo-deny is not installed")
def test_licences_and_sources_are_allowed():
    command = ["cargo", "deny", "--all-features", "check", "licenses", "bans", "sources"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
