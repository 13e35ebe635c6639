"""Calls an action once a module has been imported, without importing it and without changing how it is imported."""

from __future__ import annotations

import sys
from _frozen_importlib_external import ExtensionFileLoader, SourceFileLoader, SourcelessFileLoader
from _thread import get_ident

from ._passing import part_of_importing

TYPE_CHECKING = False  # a program that trains nothing does not pay for typing
if TYPE_CHECKING:
    from typing import Any, Callable, Optional

# Python makes one of these for each module that it finds.
_OF_ONE_MODULE = (SourceFileLoader, SourcelessFileLoader, ExtensionFileLoader)


def when_imported(name: str, action: Callable[[], None]) -> None:
    """Calls `action` as soon as the module `name` has been imported: immediately when it already has been."""
    if name in sys.modules:
        action()
    else:
        _finder.wait_for(name, action)


class _Finder:
    """Waits on sys.meta_path for modules until they have been imported, and finds them where the others find them.

    To find is not to import: programs ask whether a module is there (importlib.util.find_spec), and imports fail.
    """

    def __init__(self) -> None:
        self._actions: dict[str, list[Callable[[], None]]] = {}
        self._looking: set[tuple[int, str]] = set()

    def wait_for(self, name: str, action: Callable[[], None]) -> None:
        self._actions.setdefault(name, []).append(action)
        if not any(each is self for each in sys.meta_path):
            sys.meta_path.insert(0, self)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name not in self._actions:
            return None
        looking = (get_ident(), name)
        if looking in self._looking:  # by way of a finder of the program's that asks all others
            return None
        self._looking.add(looking)
        try:
            return self._spec_from_others(name, path, target)
        finally:
            self._looking.discard(looking)

    def _spec_from_others(self, name: str, path: Any, target: Any) -> Optional[Any]:
        for finder in list(sys.meta_path):
            find_spec = None if finder is self else getattr(finder, "find_spec", None)
            spec = find_spec(name, path, target) if find_spec is not None else None
            if spec is not None:
                _listen(spec, name)
                return spec
        return None

    def imported(self, name: str) -> None:
        actions = self._actions.pop(name, [])
        if not self._actions:
            sys.meta_path[:] = [each for each in sys.meta_path if each is not self]
        for action in actions:
            action()


_finder = _Finder()


def _listen(spec: Any, name: str) -> None:
    """The module is found, and may be imported. Its loader stays the one that Python made, where that is for one module
    alone."""
    loader = spec.loader
    if not hasattr(loader, "exec_module"):
        return
    if type(loader) in _OF_ONE_MODULE:
        loader.exec_module = _Execution(loader, name)
    else:
        spec.loader = _Loader(loader, name)


class _Execution:
    """In the place of a loader's exec_module(), until that has been called."""

    def __init__(self, loader: Any, name: str) -> None:
        self._loader = loader
        self._name = name

    @part_of_importing
    def __call__(self, module: Any) -> None:
        vars(self._loader).pop("exec_module", None)
        _execute(self._loader, self._name, module)


class _Loader:
    """A loader that is of many modules, and the action behind this one. The module does not get to see it."""

    def __init__(self, loader: Any, name: str) -> None:
        self._loader = loader
        self._name = name

    def __getattr__(self, name: str) -> Any:
        """Whoever found the module without importing it may ask its loader for more: for its source, or its files."""
        if name == "_loader":  # of a copy that is being made
            raise AttributeError(name)
        return getattr(self._loader, name)

    @part_of_importing
    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec)

    @part_of_importing
    def exec_module(self, module: Any) -> None:
        module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        _execute(self._loader, self._name, module)


@part_of_importing
def _execute(loader: Any, name: str, module: Any) -> None:
    loader.exec_module(module)
    if sys.modules.get(name) is module:  # a program may make a second one, for itself
        _finder.imported(name)
