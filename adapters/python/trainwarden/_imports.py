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
    """Waits on sys.meta_path for one module until that has been imported, and finds it where the others find it.

    To find is not to import: programs ask whether a module is there (importlib.util.find_spec), and imports fail.
    """

    def __init__(self, name: str, action: Callable[[], None]) -> None:
        self._name = name
        self._action = action

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self._name:
            return None
        spec = self._spec_from_others(name, path, target)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            spec.loader = _Loader(spec.loader, name)
        return spec

    def _spec_from_others(self, name: str, path: Any, target: Any) -> Optional[Any]:
        """Those that are not ours: ours would ask each other for ever."""
        for finder in list(sys.meta_path):
            find_spec = None if isinstance(finder, _Finder) else getattr(finder, "find_spec", None)
            spec = find_spec(name, path, target) if find_spec is not None else None
            if spec is not None:
                return spec
        return None

    def waits_for(self, name: str) -> bool:
        return self._name == name

    def act(self) -> None:
        sys.meta_path.remove(self)
        self._action()


class _Loader:
    """The module's own loader, and the action behind it. The module does not get to see it."""

    def __init__(self, loader: Any, name: str) -> None:
        self._loader = loader
        self._name = name

    def __getattr__(self, name: str) -> Any:
        """Whoever found the module without importing it may ask its loader for more: for its source, or its files."""
        if name == "_loader":  # of a copy that is being made
            raise AttributeError(name)
        return getattr(self._loader, name)

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        for finder in [each for each in sys.meta_path if isinstance(each, _Finder) and each.waits_for(self._name)]:
            finder.act()
