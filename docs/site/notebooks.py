"""Notebooks of the site: Python files in the percent format, run when the site is built.

A cell begins with `# %%`, a cell of text with `# %% [markdown]`. All cells of a notebook run in one
namespace, in an empty folder. An exception fails the build.
"""

import ast
import base64
import contextlib
import html
import io
import json
import os
import pprint
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

CELL = re.compile(r"^# %%(.*)$", re.M)
DPI = 90


@dataclass(frozen=True)
class Cell:
    """Text in Markdown, or code."""

    text: str
    is_code: bool


def cells(source: str) -> list[Cell]:
    """Return the cells of a notebook in the percent format."""
    parts = CELL.split(source)[1:]
    found = []
    for kind, body in zip(parts[::2], parts[1::2], strict=True):
        is_code = "[markdown]" not in kind
        body = body.strip("\n")
        if not is_code:
            body = "\n".join(re.sub(r"^# ?", "", line) for line in body.splitlines())
        found.append(Cell(body, is_code))
    return found


def run(found: list[Cell], name: str) -> list[str]:
    """Run the cells of code in order; return what each shows, as HTML."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    before = Path.cwd()
    figures()  # those of an earlier notebook that ended in an error are not this one's
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            return [
                shown(cell.text, namespace, f"{name}, cell {number}") if cell.is_code else ""
                for number, cell in enumerate(found, 1)
            ]
        finally:
            os.chdir(before)


def shown(code: str, namespace: dict[str, object], where: str) -> str:
    """Run a cell; return what it printed, the value of its last expression and its figures."""
    tree, last, value = ast.parse(code, where), None, None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = ast.Expression(tree.body.pop().value)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, where, "exec"), namespace)
        if last is not None:
            value = eval(compile(last, where, "eval"), namespace)
    pictures = "".join(figures())
    parts = [plain(printed.getvalue())] if printed.getvalue() else []
    if value is not None and not pictures:
        pretty = pprint.pformat(value, width=100, sort_dicts=False)
        parts.append(value._repr_html_() if hasattr(value, "_repr_html_") else plain(pretty))
    return "".join([*parts, pictures])


def plain(text: str) -> str:
    """Return text as HTML."""
    return f"<pre>{html.escape(text)}</pre>"


def figures() -> list[str]:
    """Return the open figures as HTML, and close them."""
    from matplotlib import pyplot

    found = []
    for number in pyplot.get_fignums():
        stream = io.BytesIO()
        pyplot.figure(number).savefig(stream, format="png", dpi=DPI, metadata={"Software": None})
        data = base64.b64encode(stream.getvalue()).decode()
        found.append(f'<img alt="Figure of the cell above" src="data:image/png;base64,{data}">')
    pyplot.close("all")
    return found


def page(source: str, name: str) -> str:
    """Return a notebook with its outputs as a page in Markdown."""
    found = cells(source)
    parts = []
    for cell, output in zip(found, run(found, name), strict=True):
        parts.append(f"```python\n{cell.text}\n```" if cell.is_code else cell.text)
        if output:
            # An empty line would end the HTML.
            lines = output.replace("\n", "&#10;")
            parts.append(f'<div class="output">{lines}</div>')
    here = f"[{name}.ipynb]({name}.ipynb), [{name}.py]({name}.py)"
    return "\n\n".join([*parts, f"This page is a notebook: {here}."]) + "\n"


def ipynb(source: str) -> str:
    """Return a notebook without outputs in Jupyter's format."""
    made = []
    for number, cell in enumerate(cells(source)):
        own = {"id": f"cell-{number}", "metadata": {}, "source": cell.text.splitlines(True)}
        code = {"cell_type": "code", "execution_count": None, "outputs": []}
        made.append({**own, **(code if cell.is_code else {"cell_type": "markdown"})})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1) + "\n"
