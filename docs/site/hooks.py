"""Builds the site from the pages of the repository, where they are.

Pages link to each other, and to scenarios and other files, by paths within the repository. So the
site has the same tree: the pages of `docs`, and every page and file that a page links to. Notebooks
become pages with their outputs.
"""

import re
import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Link, Navigation, Section

sys.path.insert(0, str(Path(__file__).parent))

import notebooks

ROOT = Path(__file__).parents[2]
CODE = re.compile(r"^```.*?^```", re.S | re.M)
LINK = re.compile(r"\]\(([^)\s#]+)[^)]*\)")
# Where `make docs` puts the references made from the source.
REFERENCES = {
    "Python package": "api/python/xoff.html",
    "Rust crates": "api/rust/xoff_run/index.html",
}


def linked(page: Path) -> list[Path]:
    """Return the files of the repository that a page links to."""
    targets = (target for target in LINK.findall(CODE.sub("", page.read_text())))
    found = ((page.parent / target).resolve() for target in targets if ":" not in target)
    return [path for path in found if path.is_file() and path.is_relative_to(ROOT)]


def reachable(start: list[Path]) -> set[Path]:
    """Return some pages, with every file that can be reached from them by links."""
    found, waiting = set(), list(start)
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += linked(path) if path.suffix == ".md" else []
    return found


def file_of(path: Path, config: MkDocsConfig) -> File:
    """Return a file of the site. Pages of `docs` are at the top of the site."""
    name = path.relative_to(ROOT).as_posix()
    file = File.generated(config, name, abs_src_path=str(path))
    file.dest_uri = file.dest_uri.removeprefix("docs/")
    return file


def files_of_notebook(path: Path, config: MkDocsConfig) -> list[File]:
    """Return a notebook as a page with its outputs, for Jupyter, and as it is."""
    source = path.read_text()
    made = {
        ".md": notebooks.page(source, path.stem),
        ".ipynb": notebooks.ipynb(source),
        ".py": source,
    }
    found = []
    for suffix, content in made.items():
        name = path.with_suffix(suffix).relative_to(ROOT).as_posix()
        file = File.generated(config, name, content=content)
        file.dest_uri = file.dest_uri.removeprefix("docs/")
        found.append(file)
    return found


def on_page_markdown(markdown: str, **_: object) -> str:
    """Let links to notebooks, which are files of Python in the repository, lead to their pages."""
    return re.sub(r"(\]\((?:docs/|\.\./)*notebooks/\w+)\.py\)", r"\1.md)", markdown)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Replace the files that MkDocs has found by those of the repository."""
    of_theme = [file for file in files if file.src_dir != config.docs_dir]
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    assets = [path for path in (ROOT / "docs" / "site").iterdir() if path.suffix in (".js", ".css")]
    written = sorted((ROOT / "docs" / "notebooks").glob("*.py"))
    ours = sorted((reachable(pages) | set(assets)) - set(written))
    shown = [file for path in written for file in files_of_notebook(path, config)]
    return Files([*of_theme, *shown, *(file_of(path, config) for path in ours)])


def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> Navigation:
    """Append the references, which are no pages of MkDocs."""
    links = [Link(title, url) for title, url in REFERENCES.items()]
    nav.items.append(Section("API reference", links))
    return nav
