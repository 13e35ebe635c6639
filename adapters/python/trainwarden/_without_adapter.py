"""Frameworks that Trainwarden knows and cannot attach to: who trains with one of them and captures nothing is told so."""

from __future__ import annotations

import atexit
import sys

from ._imports import when_imported

# By the module that is imported.
_FRAMEWORKS = {
    "tensorflow": "TensorFlow",
}
# Those that have an adapter, and import others of them.
_ADAPTED = ("keras", "jax")

_first = ""  # of all of these that was asked for: the one that the program itself imports


def tell_at_exit() -> None:
    """One line on standard error when the program ends, if it imported one of them and nothing was captured."""
    sys.meta_path.insert(0, _First())
    for module in _FRAMEWORKS:
        when_imported(module, _watch_exit)


class _First:
    """Stands before all finders, and finds nothing."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        global _first
        if not _first and (name in _FRAMEWORKS or name in _ADAPTED):
            _first = name  # it stays: who leaves while finders are asked makes that the next one is not


def _watch_exit() -> None:
    atexit.unregister(_tell)
    atexit.register(_tell)


def _tell() -> None:
    framework = _FRAMEWORKS.get(_first)
    if framework is None or _has_captured():
        return
    print(
        f"trainwarden: nothing was captured: there is no adapter for {framework} yet. Open a hook in the program: "
        "hook = trainwarden.Hook.from_environment(), hook.save_tensor(name, array), hook.step() (docs/reference/python.md)",
        file=sys.stderr,
    )


def _has_captured() -> bool:
    hook = sys.modules.get("trainwarden.hook")
    return hook is not None and bool(hook.was_opened())
