"""Collections of PyTorch's tensors."""

from __future__ import annotations

from typing import Any, Optional

from ..core.collection import DEFAULT_PYTORCH_COLLECTIONS, CollectionKeys
from ..core.collection import Collection as BaseCollection
from ..core.collection_manager import CollectionManager as BaseCollectionManager

__all__ = ["Collection", "CollectionKeys", "CollectionManager"]

_PATTERNS = {
    CollectionKeys.WEIGHTS: "^(?!gradient).*weight",
    CollectionKeys.BIASES: "^(?!gradient).*bias",
    CollectionKeys.GRADIENTS: "^gradient",
    CollectionKeys.LOSSES: "[Ll]oss_(?!input).*output",
}


class Collection(BaseCollection):
    """A collection that can also be given the inputs and outputs of modules."""

    def __init__(self, name: str, *arguments: Any, **options: Any) -> None:
        super().__init__(name, *arguments, **options)
        self._modules: dict[Any, tuple[bool, bool]] = {}

    def add_module_tensors(self, module: Any, inputs: bool = False, outputs: bool = True) -> None:
        """Adds what goes into the module and what comes out. It must be registered by the first step."""
        self._modules[module] = (inputs, outputs)

    @property
    def modules(self) -> dict[Any, tuple[bool, bool]]:
        """For each module: its inputs? its outputs?"""
        return self._modules


class CollectionManager(BaseCollectionManager):
    """The collections of a hook, the built-in ones among them."""

    collection_class = Collection

    def __init__(self, collections: Optional[dict[str, BaseCollection]] = None, create_default: bool = True) -> None:
        super().__init__(collections, create_default)
        if create_default:
            for name in sorted(DEFAULT_PYTORCH_COLLECTIONS):
                self.create_collection(name)
            for name, pattern in _PATTERNS.items():
                self.get(name).include(pattern)
