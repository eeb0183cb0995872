"""The patches of examples/: small, up to date with the tree, and their tests pass."""

import shutil
import subprocess

import compiled
import example_patches
import pytest
from example_patches import Example
from tidy import tree

ROOT = tree.ROOT
EXAMPLES = example_patches.load(ROOT / "examples")

needs_cargo = pytest.mark.skipif(shutil.which("cargo") is None, reason="there is no cargo")


def test_every_patch_is_listed():
    listed = [example.patch.name for example in EXAMPLES]
    assert sorted(listed) == sorted(path.name for path in (ROOT / "examples").glob("*.patch"))
    assert all(example.tests and example.packages for example in EXAMPLES)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.patch.stem)
def test_an_example_touches_few_files(example):
    touched = example_patches.counted(example.patch)
    assert len(touched) <= example.most_files, touched
    assert example_patches.generated(ROOT, example.patch) == [], "leave out what is generated"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.patch.stem)
def test_an_example_applies(example):
    command = ["git", "apply", "--check", str(example.patch)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@needs_cargo
@compiled.on_request
@pytest.mark.skipif(not EXAMPLES, reason="examples.toml lists no patch")
def test_the_examples_work():
    source = ROOT / "target" / "examples"
    source.mkdir(parents=True, exist_ok=True)
    example_patches.copy(ROOT, tree.files(), source)
    # Not the working tree's own build: cargo takes equal packages of two places for one.
    built = ROOT / "target" / "examples-build"
    compiled.reuse(ROOT / "target" / "debug", built)
    for together in example_patches.rounds(source, EXAMPLES):
        assert example_patches.run_tests(source, together, built) == []


# The same on a small crate, with patches that are wrong on purpose.

FILES = {
    "Cargo.toml": '[package]\nname = "small"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n',
    "src/lib.rs": 'pub const NAMES: &[&str] = &[\n    "one",\n];\n\n// end\n',
    "docs/names.md": "one\n",
}
DOUBLE = """
#[cfg(test)]
mod double {
    #[test]
    fn is_even() {
        assert_eq!(2 % 2, 0);
    }
}
"""


@pytest.fixture
def small(tmp_path):
    """Make a small crate; return its copy and a function that makes examples for it."""
    root, copied = tmp_path / "root", tmp_path / "copied"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    copied.mkdir()
    example_patches.copy(root, FILES, copied)

    def example(name, most_files=1, tests=("double",), **changes):
        for path, text in changes.items():
            file = copied / path.replace("__", "/").replace("_rs", ".rs").replace("_md", ".md")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        example_patches.git(copied, "add", "--all")
        patch = tmp_path / f"{name}.patch"
        patch.write_text(example_patches.git(copied, "diff", "--cached").stdout)
        example_patches.git(copied, "reset", "--quiet", "--hard")
        return Example(patch, name, most_files, ["small"], list(tests))

    return copied, example


def test_tests_and_documentation_are_not_counted(small):
    _, example = small
    made = example(
        "many",
        src__lib_rs="// 1\n",
        src__a_tests_rs="",
        docs__names_md="two\n",
        tests__it_rs="//\n",
    )
    assert example_patches.counted(made.patch) == ["src/lib.rs"]


def test_generated_files_are_told_by_their_header(small, tmp_path):
    _, example = small
    made = example("both", src__lib_rs="// 1\n", docs__names_md="two\n")
    assert example_patches.generated(tmp_path / "root", made.patch) == []
    (tmp_path / "root/docs/names.md").write_text("`make declared` writes this file.\n")
    assert example_patches.generated(tmp_path / "root", made.patch) == ["docs/names.md"]
    header = (ROOT / "python/xoff/declared.py").read_text()[: tree.HEADER]
    assert tree.GENERATED.search(header)


def test_examples_that_conflict_are_tried_apart(small):
    copied, example = small
    library = FILES["src/lib.rs"]
    examples = [
        example("two", src__lib_rs=library.replace("];", '    "two",\n];')),
        example("three", src__lib_rs=library.replace("];", '    "three",\n];')),
        example("four", docs__names_md="one\nfour\n"),
    ]
    found = []
    for together in example_patches.rounds(copied, examples):
        found.append([example.adds for example in together])
        for example in together:
            path = "docs/names.md" if example.adds == "four" else "src/lib.rs"
            assert example.adds in (copied / path).read_text()
    assert found == [["two", "four"], ["three"]]
    assert (copied / "src/lib.rs").read_text() == library


def test_an_example_for_another_tree_is_refused(small):
    copied, example = small
    made = example("old", src__lib_rs=FILES["src/lib.rs"].replace("one", "eins"))
    (copied / "src/lib.rs").write_text("pub fn other() {}\n")
    example_patches.commit(copied)
    with pytest.raises(AssertionError, match=r"old\.patch does not apply"):
        list(example_patches.rounds(copied, [made]))


@needs_cargo
def test_tests_of_an_example_must_exist_and_pass(small, tmp_path):
    copied, example = small
    library = FILES["src/lib.rs"]
    good = example("good", src__lib_rs=library + DOUBLE)
    cases = [
        (good, []),
        (good._replace(tests=["triple"]), ["good.patch: no test has 'triple' in its name"]),
        (
            example("wrong", src__lib_rs=library + DOUBLE.replace("2 % 2, 0", "2 % 2, 1")),
            ["test double::is_even: FAILED"],
        ),
    ]
    for made, problems in cases:
        for together in example_patches.rounds(copied, [made]):
            assert example_patches.run_tests(copied, together, tmp_path / "target") == problems
    broken = example("broken", src__lib_rs=library + "fn {}\n" + DOUBLE)
    for together in example_patches.rounds(copied, [broken]):
        problems = example_patches.run_tests(copied, together, tmp_path / "target")
        assert "could not compile" in problems[0]


def test_files_that_do_not_change_keep_their_times(small, tmp_path):
    copied, _ = small
    before = {name: (copied / name).stat().st_mtime_ns for name in FILES}
    (copied / "src/lib.rs").write_text("changed")
    (copied / "src/extra.rs").write_text("")
    example_patches.copy(tmp_path / "root", FILES, copied)
    assert not (copied / "src/extra.rs").exists()
    assert (copied / "docs/names.md").stat().st_mtime_ns == before["docs/names.md"]
    assert (copied / "src/lib.rs").read_text() == FILES["src/lib.rs"]
    assert (copied / "src/lib.rs").stat().st_mtime_ns > before["src/lib.rs"]
    status = subprocess.run(
        ["git", "status", "--short"], cwd=copied, capture_output=True, text=True
    )
    assert status.stdout == ""
