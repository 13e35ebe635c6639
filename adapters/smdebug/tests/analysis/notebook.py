"""Runs the code cells of a notebook that was published as text, with doubles for what is not smdebug's."""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np

_CELL = re.compile(r"^\.\. code:: ipython3\n\n((?:[ \t]+.*\n|\s*\n)+)", re.MULTILINE)


def document(seeds: Path, number: str) -> Path:
    """The notebook of this number."""
    (found,) = seeds.glob(f"{number}_*.txt")
    return found


def cells_of(document: Path) -> list[str]:
    """The code cells. The text around them may be mis-encoded."""
    text = document.read_bytes().decode("utf-8", errors="replace")
    return [textwrap.dedent(cell).strip() for cell in _CELL.findall(text + "\n")]


def python_block_of(document: Path, word: str) -> str:
    """The block of Python in the text that has this word."""
    text = document.read_bytes().decode("utf-8", errors="replace")
    blocks = re.findall(r"^\.\. code:: python\n\n((?:[ \t]+.*\n|\s*\n)+)", text, re.MULTILINE)
    (found,) = [textwrap.dedent(block).strip() for block in blocks if word in block]
    return found


class Notebook:
    """Executes cells one after the other, as they are; lines for the shell and for IPython are left out."""

    def __init__(self, names: dict[str, Any] | None = None):
        self.names: dict[str, Any] = {"__name__": "__main__", **(names or {})}

    def run(self, cell: str) -> Any:
        """Gives what the notebook would show: the value of the last line, when that is an expression."""
        lines = ["" if line.lstrip().startswith(("!", "%")) else line for line in cell.splitlines()]
        body = ast.parse("\n".join(lines)).body
        last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), "<cell>", "exec"), self.names)
        if not isinstance(last, ast.Expr):
            return None
        return eval(compile(ast.Expression(last.value), "<cell>", "eval"), self.names)

    def run_all(self, cells: list[str]) -> list[Any]:
        return [self.run(cell) for cell in cells]


class Cloud:
    """Doubles of sagemaker and boto3. They record what the notebook asked for; the training's path is `path`."""

    def __init__(self, path: str):
        self.collection_config = MagicMock()
        self.hook_config = MagicMock()
        self.estimator = MagicMock()
        self.estimator.return_value.latest_job_debugger_artifacts_path.return_value = path
        self.estimator.return_value.latest_training_job.name = "a-job"
        client = self.estimator.return_value.sagemaker_session.sagemaker_client
        states = [{"TrainingJobStatus": "InProgress", "SecondaryStatus": word} for word in ("Starting", "Training")]
        client.describe_training_job.side_effect = states

    def modules(self) -> dict[str, ModuleType]:
        debugger = _module(
            "sagemaker.debugger",
            rule_configs=MagicMock(),
            DebuggerHookConfig=self.hook_config,
            CollectionConfig=self.collection_config,
        )
        mxnet = _module("sagemaker.mxnet", MXNet=self.estimator)
        session = MagicMock()
        session.return_value.default_bucket.return_value = "bucket"
        role = MagicMock(return_value="role")
        sagemaker = _module("sagemaker", Session=session, get_execution_role=role, mxnet=mxnet, debugger=debugger)
        return {
            "boto3": _module("boto3", Session=MagicMock()),
            "sagemaker": sagemaker,
            "sagemaker.mxnet": mxnet,
            "sagemaker.debugger": debugger,
        }

    def collections(self) -> list[dict[str, Any]]:
        """Those that the notebook configured, as they stand in a file for a hook."""
        return [
            {"CollectionName": call.kwargs["name"], "CollectionParameters": call.kwargs["parameters"]}
            for call in self.collection_config.call_args_list
        ]


class Plots:
    """Records what was shown: titles and pictures, of matplotlib where it is installed, else of a double."""

    def __init__(self) -> None:
        self.shown: list[list[tuple[str, np.ndarray[Any, Any]]]] = []

    def modules(self, replace: Callable[[Any, str, object], None]) -> dict[str, ModuleType]:
        """`replace(object, attribute, value)` puts a value in place for the time of the test."""
        try:
            import matplotlib
        except ModuleNotFoundError:
            return self._doubles()
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        def show() -> None:
            figures = [plt.figure(number) for number in plt.get_fignums()]
            self._record([(ax.get_title(), ax.images[0].get_array()) for figure in figures for ax in figure.axes])
            plt.close("all")

        replace(plt, "show", show)
        return {}

    def _record(self, axes: list[tuple[str, Any]]) -> None:
        self.shown.append([(title, np.asarray(image)) for title, image in axes])

    def _doubles(self) -> dict[str, ModuleType]:
        drawn: list[_Axes] = []

        def subplots(nrows: int, ncols: int, **options: object) -> tuple[object, object]:
            drawn[:] = [_Axes() for _ in range(nrows * ncols)]
            grid = np.empty(len(drawn), dtype=object)
            grid[:] = drawn
            return object(), grid if ncols > 1 else drawn[0]

        def show() -> None:
            self._record([(axes.title, axes.image) for axes in drawn])

        pyplot = _module("matplotlib.pyplot", subplots=subplots, show=show)
        return {"matplotlib": _module("matplotlib", pyplot=pyplot), "matplotlib.pyplot": pyplot}


class _Axes:
    """A double of matplotlib's."""

    def __init__(self) -> None:
        self.title = ""
        self.image: Any = None

    def imshow(self, image: Any, cmap: str) -> None:
        self.image = image

    def set_title(self, title: str) -> None:
        self.title = title


class Widgets:
    """Doubles of the notebook's own `utils` and of ipywidgets."""

    def __init__(self) -> None:
        self.attention_head_view = SimpleNamespace(AttentionHeadView=MagicMock())
        self.neuron_view = SimpleNamespace(NeuronView=MagicMock())
        self.interactive = MagicMock()

    def modules(self) -> dict[str, ModuleType]:
        views = {"attention_head_view": self.attention_head_view, "neuron_view": self.neuron_view}
        return {
            "utils": _module("utils", **views),
            "ipywidgets": _module("ipywidgets", interactive=self.interactive),
        }


def _module(name: str, **contents: Any) -> ModuleType:
    module = ModuleType(name)
    vars(module).update(contents)
    return module


def put_in_place(modules: dict[str, ModuleType], replace_item: Callable[[Any, str, object], None]) -> None:
    for name, module in modules.items():
        replace_item(sys.modules, name, module)
