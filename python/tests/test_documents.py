"""Markdown files: links lead somewhere, and files that they name exist."""

import json
import math
import re
from functools import cache
from pathlib import Path

import pytest

from xoff import _native

ROOT = Path(__file__).parents[2]
FOLDERS = (
    "",
    "docs",
    "docs/architecture",
    "docs/decisions",
    "docs/reproduction",
    "docs/tutorials",
    "examples",
    "scenarios",
)
PAGES = sorted(page for folder in FOLDERS for page in (ROOT / folder).glob("*.md"))
SPECIFICATIONS = sorted((ROOT / "papers").glob("*/SPEC.md"))
# Pages that name files of the source.
NAMING = [
    page for page in PAGES if "reproduction" not in page.parts and page.name != "CHANGELOG.md"
]

# Files of a user.
EXAMPLES = {"hello.toml", "hello-load.toml", "mine.toml", "compare.toml", "scenario.toml"}
# What commands write for a user.
EXAMPLES |= {"table.md"}
# The file of a comparison of one's own.
EXAMPLES |= {"comparison.toml"}
# What a worked example adds.
EXAMPLES |= {"aimd.rs", "crates/xoff-host/src/cc/aimd.rs"}
# Files that every paper has.
EXAMPLES |= {"experiment.toml", "claims.toml", "readings.toml", "deviations.md", "SPEC.md"}

# What pages leave out in front of a file's name.
PREFIXES = (
    "",
    "crates",
    "crates/*",
    "crates/*/src",
    "crates/*/src/*",
    "crates/*/src/*/*",
    "crates/*/tests/it",
    "python/tests",
    "python/xoff",
)


# A file, or a folder with a slash at its end or of a crate.
FILE = r"[\w./*-]+(\.(rs|py|toml|md)|/|/src/[\w/]+)"


def name(page):
    return str(page.relative_to(ROOT))


def prose(page):
    """Return the text of a page without code blocks."""
    return re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M)


@cache
def anchors(page):
    """Return the fragments that links into a page may have."""
    titles = re.findall(r"^#+ (.+)$", prose(page), re.M)
    plain = (re.sub(r"[^\w\- ]", "", title.lower()) for title in titles)
    return {title.replace(" ", "-") for title in plain}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_within_the_project_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if re.match(r"https?://|mailto:", target):
            continue
        path, _, fragment = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), target
        if fragment and found.suffix == ".md":
            assert fragment in anchors(found), target


def files(page):
    """Return the names of files and folders in a page's code spans."""
    spans = re.findall(r"`([^`\n]+)`", prose(page))
    return {span for span in spans if re.fullmatch(FILE, span)}


def exists(file, page):
    if file in EXAMPLES:
        return True
    places = [ROOT / prefix for prefix in PREFIXES]
    text = file.rstrip("/")
    return (page.parent / text).exists() or any(
        next(ROOT.glob(f"{place.relative_to(ROOT)}/{text}"), None) for place in places
    )


@pytest.mark.parametrize("page", [*NAMING, *SPECIFICATIONS], ids=name)
def test_files_that_a_page_names_exist(page):
    missing = {file for file in files(page) if "NAME" not in file and not exists(file, page)}
    assert not missing


@pytest.mark.parametrize("claims", sorted((ROOT / "papers").glob("*/claims.toml")), ids=name)
def test_tests_that_claims_name_exist(claims):
    named = set(re.findall(r"(?:crates|python)/[\w/.-]+\.(?:rs|py)", claims.read_text()))
    assert not {file for file in named if not (ROOT / file).exists()}


@pytest.mark.real_engine
def test_the_readme_has_every_preset():
    presets = [preset for preset, _ in _native.presets()]
    rows = re.findall(r"^\| `([\w-]+)` \| [^|]+ \|$", (ROOT / "README.md").read_text(), flags=re.M)
    assert [row for row in rows if row in presets] == presets


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "docs/performance.md"], ids=name)
def test_instructions_are_those_that_are_held(page):
    """Instructions of a case, in the last column of its row, are its ceiling."""
    held = json.loads((ROOT / "bench/instructions.json").read_text())["cases"]
    rows = re.findall(r"^\| `([\w-]+-128)` \|.*\| (\d+) \|$", page.read_text(), flags=re.M)
    shown = {case: int(count) for case, count in rows}
    assert shown == {case: math.ceil(held[case]["ceiling"]) for case in shown}
    assert len(shown) >= 3
