"""Collections of MXNet's tensors."""

from __future__ import annotations

from typing import Any, Optional

from ..core.collection import DEFAULT_MXNET_COLLECTIONS, CollectionKeys
from ..core.collection import Collection as BaseCollection
from ..core.collection_manager import CollectionManager as BaseCollectionManager

__all__ = ["Collection", "CollectionKeys", "CollectionManager"]

_PATTERNS = {
    CollectionKeys.WEIGHTS: "^(?!gradient).*weight",
    CollectionKeys.BIASES: "^(?!gradient).*bias",
    CollectionKeys.GRADIENTS: "^gradient",
    CollectionKeys.LOSSES: ".*loss._(?!input).*output",
}


class Collection(BaseCollection):
    """A collection that can also be given the inputs and outputs of blocks."""

    def add_block_tensors(self, block: Any, inputs: bool = False, outputs: bool = True) -> None:
        """Adds what goes into the block and what comes out."""
        if inputs:
            self.include(f"{block.name}_input_")
        if outputs:
            self.include(f"{block.name}_output_")


class CollectionManager(BaseCollectionManager):
    """The collections of a hook, the built-in ones among them."""

    collection_class = Collection

    def __init__(self, collections: Optional[dict[str, BaseCollection]] = None, create_default: bool = True) -> None:
        super().__init__(collections, create_default)
        if create_default:
            for name in sorted(DEFAULT_MXNET_COLLECTIONS):
                self.create_collection(name)
            for name, pattern in _PATTERNS.items():
                self.get(name).include(pattern)
