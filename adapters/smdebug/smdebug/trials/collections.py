"""TrialCollections: the collections of a run as objects of smdebug's."""

from __future__ import annotations

import re
from contextlib import suppress

import trainwarden
from trainwarden import _places

from ..core.collection import Collection
from ..core.collection_manager import CollectionManager
from ..exceptions import SMDebugError, SMDebugTypeError
from .opening import manifests


class TrialCollections:
    """Makes an object of each collection when it is asked for, and keeps it: who analyses may add patterns to it."""

    def __init__(self, source: trainwarden.Trial):
        self._source = source
        self._made: dict[str, Collection] = {}

    def all(self) -> dict[str, Collection]:
        for name in self._source.collections():
            self.get(name)
        return dict(self._made)

    def get(self, name: str) -> Collection:
        """With the tensors that are known to belong to it by now. An empty one when the run has none of that name."""
        if name not in self._made:
            self._made[name] = self._recorded().get(name) or Collection(name, list(self._patterns(name)))
        made = self._made[name]
        made.tensor_names = made.tensor_names | self._names(name)
        return made

    def members(self, collection: str | Collection) -> set[str]:
        """Names of its tensors. SMDebugTypeError when it is neither a name nor a collection."""
        if not isinstance(collection, (str, Collection)):
            raise SMDebugTypeError(f"expected the name of a collection, or one, found {collection!r}")
        made = self.get(collection if isinstance(collection, str) else collection.name)
        added = [re.compile(pattern) for pattern in made.include_regex if pattern not in self._patterns(made.name)]
        if not added:
            return set(made.tensor_names)
        found = {name for name in self._source.tensor_names() if any(pattern.search(name) for pattern in added)}
        return made.tensor_names | found

    def _recorded(self) -> dict[str, Collection]:
        """As smdebug's first manifest describes them, with when and how they were saved. None for a run of ours."""
        if self._source.recorder == "smdebug":
            for manifest in manifests(self._source.path):
                # The trial reports files that it cannot read.
                with suppress(SMDebugError, trainwarden.Error, OSError, ValueError):
                    text = _places.read(self._source.path, manifest).decode()
                    return dict(CollectionManager.load_from_string(text).get_collections())
        return {}

    def _patterns(self, name: str) -> tuple[str, ...]:
        return tuple(self._source.collection(name).include) if self._is_known(name) else ()

    def _names(self, name: str) -> set[str]:
        return set(self._source.tensor_names(collection=name)) if self._is_known(name) else set()

    def _is_known(self, name: str) -> bool:
        return name in self._source.collections()
