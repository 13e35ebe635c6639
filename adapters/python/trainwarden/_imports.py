"""Calls an action once a module has been imported, without importing it and without changing how it is imported."""

from __future__ import annotations

import sys
from typing import Any, Callable, Optional


def when_imported(name: str, action: Callable[[], None]) -> None:
    """Calls `action` as soon as the module `name` has been imported: immediately when it already has been."""
    if name in sys.modules:
        action()
    else:
        sys.meta_path.insert(0, _Finder(name, action))


class _Finder:
    """Waits on sys.meta_path for one module, finds it where the others find it, and then goes away."""

    def __init__(self, name: str, action: Callable[[], None]) -> None:
        self._name = name
        self._action = action

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self._name:
            return None
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        spec = _spec_from_others(name, path, target)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _Loader(spec.loader, self._action)
        return spec


def _spec_from_others(name: str, path: Any, target: Any) -> Optional[Any]:
    for finder in list(sys.meta_path):
        find_spec = getattr(finder, "find_spec", None)
        spec = find_spec(name, path, target) if find_spec is not None else None
        if spec is not None:
            return spec
    return None


class _Loader:
    """The module's own loader, and the action behind it. The module does not get to see it."""

    def __init__(self, loader: Any, action: Callable[[], None]) -> None:
        self._loader = loader
        self._action = action

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._action()
