"""The notebooks of the documentation as cells, as pages and for Jupyter. `make docs` runs them."""

import importlib.util
import json
from pathlib import Path

import pytest
from matplotlib import pyplot

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.py"))
SOURCE = (
    "# %% [markdown]\n# # Title\n#\n# Text.\n\n# %%\nx = 2\nprint('<b>')\nx * 3\n\n# %%\ny = x\n"
)

spec = importlib.util.spec_from_file_location("notebooks", ROOT / "docs/site/notebooks.py")
notebooks = importlib.util.module_from_spec(spec)
spec.loader.exec_module(notebooks)


def test_cells_are_text_or_code():
    found = [(cell.text, cell.is_code) for cell in notebooks.cells(SOURCE)]
    assert found == [
        ("# Title\n\nText.", False),
        ("x = 2\nprint('<b>')\nx * 3", True),
        ("y = x", True),
    ]


def test_a_page_has_what_cells_print_and_show():
    pyplot.figure()  # of something else in this process: not on the page
    page = notebooks.page(SOURCE, "own")
    assert page.startswith("# Title\n\nText.\n\n```python\nx = 2\n")
    assert page.count('<div class="output">') == 1
    assert "<pre>&lt;b&gt;&#10;</pre><pre>6</pre>" in page
    assert "[own.ipynb](own.ipynb)" in page


def test_an_error_in_a_cell_names_its_cell():
    with pytest.raises(ZeroDivisionError) as error:
        notebooks.page("# %%\nx = 0\n\n# %%\n1 / x\n", "own")
    assert error.traceback[-1].path == "own, cell 2" or "own, cell 2" in str(error.traceback[-1])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_jupyter_opens_it(path):
    found = json.loads(notebooks.ipynb(path.read_text()))
    assert (found["nbformat"], found["nbformat_minor"]) == (4, 5)
    assert {cell["cell_type"] for cell in found["cells"]} == {"code", "markdown"}
    assert len({cell["id"] for cell in found["cells"]}) == len(found["cells"])
    code = ["".join(cell["source"]) for cell in found["cells"] if cell["cell_type"] == "code"]
    for text in code:
        compile(text, path.stem, "exec")
