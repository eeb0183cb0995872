"""The source text itself: widths, lengths, documentation, cycles of imports, phrases, matches.

Where the tree is not yet as it should be, exceptions are listed with their reason, and counts have
ceilings in `tidy/ceilings.toml`. Both may only shrink: a stale exception fails too.
"""

import ast
from collections import defaultdict

import pytest
from tidy import ceilings, cycles, prose, rust, tree, variants

WIDTH = 100
FILE_LINES = 600
RUST_FUNCTION_LINES = 80
SCENARIO_FUNCTION_LINES = 60
PYTHON_FUNCTION_LINES = 60
DOC_CHARACTERS = 30

# Files that are longer than they should be: the lines they may have, and why.
LONG_FILES = {
    "crates/xoff-net/src/fabric.rs": (652, "ports and links share the fields of the packet path"),
}

# Functions that are longer than they should be: the lines they may have, and why.
LONG_FUNCTIONS: dict[str, tuple[int, str]] = {}


def group(path):
    """Return what a file's wide lines are counted with: its crate, or its top folder."""
    return "/".join(path.split("/")[: 2 if path.startswith(("crates/", "python/")) else 1])


def check_lengths(found, limit_of, exceptions):
    """Fail for what is longer than its limit or exception, and for exceptions not needed."""
    problems = []
    for name, lines in found.items():
        allowed = exceptions[name][0] if name in exceptions else limit_of(name)
        if lines > allowed:
            problems.append(f"{name}: {lines} lines, at most {allowed} are allowed")
    for name in exceptions:
        if found.get(name, 0) <= limit_of(name):
            problems.append(f"{name}: within the limit, delete its exception")
    assert not problems, "\n".join(problems)


def test_no_line_is_too_wide():
    found = defaultdict(int)
    for path in (*tree.rust_files(), *tree.python_files()):
        wide = sum(len(line) > WIDTH for line in tree.text(path).splitlines())
        if wide:
            found[group(path)] += wide
    ceilings.hold("lines_over_100_columns", found)


def test_no_file_is_too_long():
    paths = (*tree.rust_files(), *tree.python_files())
    written = (path for path in paths if not tree.is_generated(path))
    found = {path: len(tree.text(path).splitlines()) for path in written}
    check_lengths(found, lambda _: FILE_LINES, LONG_FILES)


def test_no_function_is_too_long():
    found = defaultdict(int)
    for path in tree.rust_files():
        for name, lines in rust.functions(path):
            found[f"{path} {name}"] = max(found[f"{path} {name}"], lines)
    for path in tree.python_files():
        for node in ast.walk(ast.parse(tree.text(path))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                name = f"{path} {node.name}"
                found[name] = max(found[name], node.end_lineno - node.lineno + 1)

    def limit(name):
        if ".py " in name:
            return PYTHON_FUNCTION_LINES
        of_scenarios = name.startswith("crates/xoff-scenario/src/")
        return SCENARIO_FUNCTION_LINES if of_scenarios else RUST_FUNCTION_LINES

    check_lengths(found, limit, LONG_FUNCTIONS)


def test_no_two_items_are_documented_by_the_same_sentence():
    """Methods of one name may share it: they are one operation at several places."""
    items = defaultdict(set)
    for path in tree.files("crates/*/src/*.rs"):
        for doc in rust.docs(path):
            if len(doc.sentence) >= DOC_CHARACTERS:
                items[doc.sentence].add(doc.item)
    ceilings.hold("same_documentation", {s: len(n) for s, n in items.items() if len(n) > 1})


def test_modules_import_each_other_in_no_cycle():
    assert not cycles.all_cycles(), "depend in one direction, or move what is shared"


def test_prose_is_plain():
    try:
        ceilings.hold("phrases", prose.counts())
    except AssertionError as error:
        said = str(error)
        advice = [f"{p}: write {w}" for p, w in prose.PHRASES.items() if f"\n{p}: " in said]
        pytest.fail("\n".join([said, "Instead:", *advice]))


def test_parts_of_a_scenario_answer_for_their_own_variants():
    assert not variants.matches(), "ask the part: give its settings trait a method"
