"""FrameworkHook: what the hooks of PyTorch, TensorFlow, MXNet and XGBoost share beside BaseHook."""

from __future__ import annotations

from typing import ClassVar, Generic, Optional, TypeVar, cast

from .collection import Collection, CollectionKeys
from .collection_manager import CollectionManager
from .hook import CallbackHook, SaveConfigLike
from .hook_utils import PathLike
from .reduction_config import ReductionConfig
from .save_config import SaveConfig
from .singleton_utils import set_hook

_AnyCollection = TypeVar("_AnyCollection", bound=Collection)


class FrameworkHook(CallbackHook, Generic[_AnyCollection]):
    """The hook of this process from now on. Arguments and errors: BaseHook.

    Attributes:
        make_collections: makes those of the framework.
        always_included: collections that are saved in any case.
        default_interval: of steps that are saved where nobody says more; None: that of all.
    """

    make_collections: ClassVar[type[CollectionManager]]
    always_included: ClassVar[list[str]]
    default_interval: ClassVar[Optional[int]] = None

    def __init__(
        self,
        out_dir: Optional[PathLike] = None,
        export_tensorboard: bool = False,
        tensorboard_dir: Optional[PathLike] = None,
        dry_run: bool = False,
        reduction_config: Optional[ReductionConfig] = None,
        save_config: SaveConfigLike = None,
        include_regex: Optional[list[str]] = None,
        include_collections: Optional[list[str]] = None,
        save_all: bool = False,
        include_workers: str = "one",
    ) -> None:
        if save_config is None and self.default_interval is not None:
            save_config = SaveConfig(save_interval=self.default_interval)
        super().__init__(
            self.make_collections(),
            self.always_included,
            out_dir=out_dir,
            export_tensorboard=export_tensorboard,
            tensorboard_dir=tensorboard_dir,
            dry_run=dry_run,
            reduction_config=reduction_config,
            save_config=save_config,
            include_regex=include_regex,
            include_collections=include_collections,
            save_all=save_all,
            include_workers=include_workers,
        )
        self._set_up()
        set_hook(self)

    def _set_up(self) -> None:
        """What a kind of hook has of its own."""

    @property
    def worker(self) -> str:
        """The name of this process among the workers."""
        return self._place_in_job().worker

    def get_collection(self, name: str, create: bool = True) -> _AnyCollection:
        """The collection of that name, created when missing."""
        return cast(_AnyCollection, super().get_collection(name, create))

    def _include_all(self) -> None:
        """`all` without a pattern is all: smdebug left out a part of it."""
        everything = self.collection_manager.get(CollectionKeys.ALL)
        if CollectionKeys.ALL in self.include_collections and not (everything.include_regex or everything.tensor_names):
            everything.include(".*")
