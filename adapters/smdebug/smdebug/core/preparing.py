"""Preparing: what is saved of a hook's collections, fixed at the first step."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ..exceptions import InvalidCollectionConfiguration, SMDebugValueError
from .collection import NON_HISTOGRAM_COLLECTIONS, NON_REDUCTION_COLLECTIONS, Collection, CollectionKeys
from .modes import ModeKeys
from .reduction_config import ReductionConfig
from .save_config import SaveConfig

_OF_TRAINING = (CollectionKeys.GRADIENTS, CollectionKeys.OPTIMIZER_VARIABLES)


def prepare(
    collections: Mapping[str, Collection],
    included: Iterable[str],
    may_be_empty: Iterable[str],
    save_config: SaveConfig,
    reduction_config: ReductionConfig,
) -> list[Collection]:
    """Completes the collections with the hook's configs; gives those that are saved. With `all` each is.

    Raises:
        InvalidCollectionConfiguration: a collection that must not be empty can match nothing.
        SMDebugValueError: a pattern is wrong.
    """
    allowed_empty = set(may_be_empty)
    for name, collection in collections.items():
        if name not in allowed_empty and not collection.include_regex and not collection.tensor_names:
            raise InvalidCollectionConfiguration(name)
        _check_patterns(collection)
        _complete(collection, save_config, reduction_config)
    names = set(included)
    is_every_one = CollectionKeys.ALL in names
    return [collection for name, collection in collections.items() if is_every_one or name in names]


def _check_patterns(collection: Collection) -> None:
    for pattern in collection.include_regex:
        try:
            re.compile(pattern)
        except re.error as error:
            raise SMDebugValueError(f"collection {collection.name}: {pattern!r} is no pattern: {error}") from None


def _complete(collection: Collection, save_config: SaveConfig, reduction_config: ReductionConfig) -> None:
    """What the collection does not say itself is the hook's."""
    if collection.name in NON_HISTOGRAM_COLLECTIONS:
        collection.save_histogram = False
    if collection.save_config is None:
        collection.set_save_config(save_config)
    else:
        collection.save_config.merge_default_save_config(save_config)
    if collection.name in NON_REDUCTION_COLLECTIONS:
        collection.reduction_config = ReductionConfig(save_raw_tensor=True)
    elif collection.reduction_config is None:
        collection.reduction_config = reduction_config


def is_wanted(collection: Collection, mode: ModeKeys, mode_step: int) -> bool:
    """Is the prepared collection saved at this step? Gradients and the optimizer's state only while training."""
    if mode in (ModeKeys.EVAL, ModeKeys.PREDICT) and collection.name in _OF_TRAINING:
        return False
    return collection.save_config is not None and collection.save_config.should_save_step(mode, mode_step)
