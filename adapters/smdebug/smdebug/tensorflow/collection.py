"""Collections of TensorFlow's tensors."""

from __future__ import annotations

from typing import Any, Optional

from ..core.collection import DEFAULT_TF_COLLECTIONS, CollectionKeys
from ..core.collection import Collection as BaseCollection
from ..core.collection_manager import CollectionManager as BaseCollectionManager
from ..core.modes import ModeKeys
from ..exceptions import SMDebugTypeError

__all__ = ["Collection", "CollectionKeys", "CollectionManager"]


class Collection(BaseCollection):
    """A collection that can also be given tensors, variables and operations of a graph."""

    def add(self, arg: Any) -> None:
        """Adds a tensor, a variable, or all that an operation gives; of a list, a tuple or a dict each.

        Raises:
            SMDebugTypeError: it is something else.
        """
        if isinstance(arg, dict):
            arg = list(arg.values())
        if isinstance(arg, (list, tuple)):
            for each in arg:
                self.add(each)
        elif hasattr(arg, "outputs") and hasattr(arg, "op_def"):
            self.add(list(arg.outputs))
        elif isinstance(getattr(arg, "name", None), str) and hasattr(arg, "dtype"):
            self.add_tensor_name(arg.name)
        else:
            raise SMDebugTypeError(f"expected a tensor, a variable or an operation, found {arg!r}")

    def add_for_mode(self, arg: Any, mode: Optional[ModeKeys] = None) -> None:
        """The same: a name is saved in each mode in which the graph has it."""
        self.add(arg)

    def add_keras_layer(self, layer: Any, inputs: bool = False, outputs: bool = True) -> None:
        """Adds what goes into the layer and what comes out."""
        if inputs:
            self.include(f"^{layer.name}/inputs")
        if outputs:
            self.include(f"^{layer.name}/outputs")


class CollectionManager(BaseCollectionManager):
    """The collections of a hook, the built-in ones among them."""

    collection_class = Collection

    def __init__(self, collections: Optional[dict[str, BaseCollection]] = None, create_default: bool = True) -> None:
        super().__init__(collections, create_default)
        if create_default:
            for name in sorted(DEFAULT_TF_COLLECTIONS):
                self.create_collection(name)
