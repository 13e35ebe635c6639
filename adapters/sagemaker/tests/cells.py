"""The code cells of notebooks that were published as text, and what runs them."""

from __future__ import annotations

import ast
import importlib.util
import re
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any

_IN_RST = re.compile(r"^\.\. code:: ipython3\n\n((?:[ \t]+.*\n|\s*\n)+)", re.MULTILINE)
_PYTHON = re.compile(r"^\.\. code:: python\n\n((?:[ \t]+.*\n|\s*\n)+)", re.MULTILINE)
_IN_MARKDOWN = re.compile(r"^In \\\[ \\\]:\n\n((?:    .*\n|\s*\n)+)", re.MULTILINE)


class Notebook:
    """Executes cells as they are; lines for the shell and for IPython are left out."""

    def __init__(self, document: Path, **names: Any):
        self._text = document.read_bytes().decode("utf-8", errors="replace") + "\n"
        cell = _IN_RST if document.name.endswith(".rst.txt") else _IN_MARKDOWN
        self.cells = [textwrap.dedent(text).strip() for text in cell.findall(self._text)]
        self.names: dict[str, Any] = {"__name__": "__main__", **names}

    def function(self, name: str) -> Any:
        """The function of this name, which is shown in the text as plain Python."""
        (block,) = [block for block in _PYTHON.findall(self._text) if f"def {name}(" in block]
        names: dict[str, Any] = {}
        exec(textwrap.dedent(block), names)
        return names[name]

    def run(self, *words: str) -> Any:
        """The cell that has all these words, of several the first. Gives what the notebook would show."""
        cell = next(cell for cell in self.cells if all(word in cell for word in words))
        lines = ["" if line.lstrip().startswith(("!", "%")) else line for line in cell.splitlines()]
        body = ast.parse("\n".join(lines)).body
        last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), "<cell>", "exec"), self.names)
        if not isinstance(last, ast.Expr):
            return None
        return eval(compile(ast.Expression(last.value), "<cell>", "eval"), self.names)


def our_boto3() -> ModuleType:
    """What `import boto3` gives where trainwarden-boto3 is installed; the original may be here too."""
    path = Path(__file__).parents[2] / "boto3" / "boto3" / "__init__.py"
    spec = importlib.util.spec_from_file_location("boto3", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
