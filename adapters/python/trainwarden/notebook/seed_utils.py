"""`from utils import attention_head_view, neuron_view`, as the published notebook on BERT's attention has it.

That notebook lies beside a folder `utils` with two helpers, which need Bokeh. offer() makes the same line find the
views of Trainwarden wherever no other module `utils` is found: it is asked last, so it never stands before one of the
user's own. smdebug calls it when it is imported inside of IPython; a script calls it itself.
"""

from __future__ import annotations

import importlib
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_MODULES = ("attention_head_view", "neuron_view")


def offer() -> None:
    """Calling it again changes nothing."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())


def offer_in_notebooks() -> None:
    """offer(), where the process is one of IPython's."""
    ipython = sys.modules.get("IPython")
    if ipython is not None and ipython.get_ipython() is not None:
        offer()


class _Finder(MetaPathFinder):
    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name == "utils":
            return ModuleSpec(name, _Utils(), is_package=True)
        return None


class _Utils(Loader):
    """The package: it holds the two modules and no more."""

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        module.__doc__ = "Trainwarden's views under the names of an old notebook (trainwarden.notebook.seed_utils)."
        for name in _MODULES:
            view = importlib.import_module(f"{__package__}.{name}")
            setattr(module, name, view)
            sys.modules[f"{module.__name__}.{name}"] = view  # for `from utils.neuron_view import NeuronView`
