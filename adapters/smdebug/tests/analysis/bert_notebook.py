"""The published notebook on BERT's attention, and what it needs around it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Protocol

import pytest

from trainwarden.errors import OutOfRange
from trainwarden.notebook import seed_utils

from notebook import Cloud, Notebook, put_in_place


class Finetuning(Protocol):
    """The training that the notebook watches."""

    def start(self, collections: list[dict[str, Any]]) -> None:
        """Begins, with what the notebook wants to be captured."""

    def epoch(self) -> None:
        """Goes on, by an epoch at least where any are left."""


@dataclass
class Bert:
    """The notebook, and the training that it watches."""

    notebook: Notebook
    cells: list[str]
    finetuning: Finetuning
    cloud: Cloud

    def run(self) -> list[int]:
        """All cells. Gives the validation steps that were there before the cell that looks for new ones."""
        start = next(index for index, cell in enumerate(self.cells) if "mxnet_estimator.fit" in cell)
        latest = next(index for index, cell in enumerate(self.cells) if "new_steps" in cell)
        self.notebook.run_all(self.cells[: start + 1])
        self.finetuning.start(self.cloud.collections())
        self.notebook.run_all(self.cells[start + 1 : latest])
        seen = list(self.notebook.names["steps"])
        assert 0 in seen and not self.notebook.names["trial"].loaded_all_steps
        for _ in range(3):
            self.finetuning.epoch()
        self.notebook.run_all(self.cells[latest:])
        return seen


class Selecting:
    """A double of ipywidgets' interactive(): makes a choice of each option, in their order, as a user would. The
    notebook offers 20 tokens; those that the text does not have are refused."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens
        self.chosen: list[tuple[str, list[Any]]] = []

    def interactive(self, select: Callable[..., None], **options: Any) -> None:
        ((name, values),) = options.items()
        self.chosen.append((select.__name__, list(values)))
        for value in values:
            if name == "query" and value >= self.tokens:
                with pytest.raises(OutOfRange, match=f"expected query to be a position, 0 to {self.tokens - 1}"):
                    select(**{name: value})
            else:
                assert select(**{name: value}) is None


def offer_views(tokens: int, monkeypatch: pytest.MonkeyPatch) -> Selecting:
    """Our views in the place of the notebook's helpers: nothing but ipywidgets is a double, which it gives."""
    for name in ("utils", "utils.attention_head_view", "utils.neuron_view"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))  # so that they are put back after the test
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    seed_utils.offer()
    selecting = Selecting(tokens)
    ipywidgets = ModuleType("ipywidgets")
    monkeypatch.setattr(ipywidgets, "interactive", selecting.interactive, raising=False)
    put_in_place({"ipywidgets": ipywidgets}, monkeypatch.setitem)
    return selecting
