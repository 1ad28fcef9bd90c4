"""The notebooks run from top to bottom, and what they show is there."""

import pathlib

import nbclient
import nbformat
import pytest

FOLDER = pathlib.Path(__file__).parent.parent / "notebooks"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda p: p.stem)
def test_notebook(path):
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(FOLDER)}}).execute()
    outputs = [o for c in notebook.cells if c.cell_type == "code" for o in c.outputs]
    shown = {kind for o in outputs if "data" in o for kind in o["data"]}
    assert {"image/svg+xml", "text/html"} <= shown


def test_there_are_two():
    assert len(list(FOLDER.glob("*.ipynb"))) >= 2
