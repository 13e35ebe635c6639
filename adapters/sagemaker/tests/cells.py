"""The code cells of notebooks, those that were published as text too, and what runs them."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import json
import re
import textwrap
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

_IN_RST = re.compile(r"^\.\. code:: ipython3\n\n((?:[ \t]+.*\n|\s*\n)+)", re.MULTILINE)
_PYTHON = re.compile(r"^\.\. code:: python\n\n((?:[ \t]+.*\n|\s*\n)+)", re.MULTILINE)
_IN_MARKDOWN = re.compile(r"^In \\\[ \\\]:\n\n((?:    .*\n|\s*\n)+)", re.MULTILINE)


class Notebook:
    """Executes cells as they are; lines for the shell and for IPython are left out."""

    def __init__(self, document: Path, **names: Any):
        self._text = document.read_bytes().decode("utf-8", errors="replace") + "\n"
        self.cells = _cells_of(self._text, document.name)
        self.names: dict[str, Any] = {"__name__": "__main__", **names}

    def function(self, name: str) -> Any:
        """The function of this name, which is shown in the text as plain Python."""
        (block,) = [block for block in _PYTHON.findall(self._text) if f"def {name}(" in block]
        names: dict[str, Any] = {}
        exec(textwrap.dedent(block), names)
        return names[name]

    def run(self, *words: str) -> Any:
        """The cell that has all these words, of several the first. Gives what the notebook would show."""
        return self.run_text(next(cell for cell in self.cells if all(word in cell for word in words)))

    def run_text(self, cell: str) -> Any:
        """As run()."""
        lines = ["" if line.lstrip().startswith(("!", "%")) else line for line in cell.splitlines()]
        body = ast.parse("\n".join(lines)).body
        last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), "<cell>", "exec"), self.names)
        if not isinstance(last, ast.Expr):
            return None
        return eval(compile(ast.Expression(last.value), "<cell>", "eval"), self.names)


def _cells_of(text: str, name: str) -> list[str]:
    if name.endswith(".ipynb"):
        return ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    cell = _IN_RST if name.endswith(".rst.txt") else _IN_MARKDOWN
    return [textwrap.dedent(each).strip() for each in cell.findall(text)]


def our_boto3() -> ModuleType:
    """What `import boto3` gives where trainwarden-boto3 is installed; the original may be here too."""
    path = Path(__file__).parents[2] / "boto3" / "boto3" / "__init__.py"
    spec = importlib.util.spec_from_file_location("boto3", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Table:
    """What a DataFrame is asked for in these tests."""

    def __init__(self, rows: Any, columns: Any, index: Any = None):
        self._columns = {name: [row[number] for row in rows] for number, name in enumerate(columns)}

    def __getitem__(self, name: str) -> Any:
        return SimpleNamespace(tolist=self._columns[name].copy)


def pandas_or_tables() -> Any:
    """pandas; or our tables, in environments of old frameworks, where it would weigh as much as what is tested there."""
    if importlib.util.find_spec("pandas") is not None:
        return importlib.import_module("pandas")
    return SimpleNamespace(DataFrame=Table, set_option=lambda name, value: None)
