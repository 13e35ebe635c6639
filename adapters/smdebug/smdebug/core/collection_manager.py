"""CollectionManager: the collections of a hook, by name."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, Optional, Union

from ..exceptions import SMDebugError, SMDebugTypeError, SMDebugValueError
from .collection import Collection

ALLOWED_PARAMS = ["collections", "_meta"]


class CollectionManager:
    """Collections by name, and the number of workers that they were recorded by."""

    collection_class = Collection

    def __init__(self, collections: Optional[dict[str, Collection]] = None, create_default: bool = False) -> None:
        self.collections: dict[str, Collection] = {} if collections is None else collections
        self._meta: dict[str, Any] = {"num_workers": 1}

    def create_collection(self, name: str) -> None:
        """Does nothing when there is one of that name."""
        if name not in self.collections:
            self.collections[name] = self.collection_class(name)

    def get_collections(self) -> dict[str, Collection]:
        return self.collections

    def add(self, arg: Union[str, Collection]) -> None:
        """A collection takes the place of the one of its name; a name creates one where there is none."""
        if isinstance(arg, Collection):
            self.collections[arg.name] = arg
        elif isinstance(arg, str):
            self.create_collection(arg)

    def get(self, name: str, create: bool = True) -> Collection:
        """SMDebugError when there is none of that name and it is not to be created."""
        if name not in self.collections:
            if not create:
                there = ", ".join(sorted(self.collections))
                raise SMDebugError(f"expected the name of a collection, found {name!r}; there are: {there}")
            self.create_collection(name)
        return self.collections[name]

    def update_meta(self, meta: Mapping[str, Any]) -> None:
        if not isinstance(meta, Mapping):
            raise SMDebugTypeError(f"expected a dict as meta, found {meta!r}")
        self._meta.update(meta)

    def get_num_workers(self) -> int:
        return int(self._meta["num_workers"])

    def set_num_workers(self, num_workers: Union[int, str]) -> None:
        self._meta["num_workers"] = int(num_workers)

    def to_json_dict(self) -> dict[str, Any]:
        collections = {name: collection.to_json_dict() for name, collection in self.collections.items()}
        return {"collections": collections, "_meta": self._meta}

    def export(self, out_dir: str, filename: str) -> None:
        """Writes what load() reads, where smdebug would."""
        folder = os.path.join(out_dir, "collections", "000000000")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, filename), "w", encoding="utf-8") as file:
            json.dump(self.to_json_dict(), file)

    @classmethod
    def load(cls, filename: str, collection_class: type[Collection] = Collection) -> CollectionManager:
        with open(filename, encoding="utf-8") as file:
            return cls.load_from_string(file.read(), collection_class)

    @classmethod
    def load_from_string(cls, s: str, collection_class: type[Collection] = Collection) -> CollectionManager:
        """SMDebugValueError when it is no manifest of collections."""
        params = json.loads(s)
        if not isinstance(params, dict) or sorted(params) != sorted(ALLOWED_PARAMS):
            raise SMDebugValueError(f"expected an object with {' and '.join(ALLOWED_PARAMS)}, found {s[:100]}")
        manager = cls(create_default=False)
        for collection in params["collections"].values():
            manager.add(collection_class.from_dict(collection))
        manager.update_meta(params["_meta"])
        return manager

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CollectionManager):
            return NotImplemented
        return self.collections == other.collections

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<class CollectionManager: collection_names={list(self.collections)}>"
