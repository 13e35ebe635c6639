"""The options of a trainwarden hook that save exactly what smdebug's collections select."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Optional

from .collection import NON_HISTOGRAM_COLLECTIONS, Collection
from .modes import ModeKeys, core_mode
from .reduction_config import ReductionConfig
from .save_config import SaveConfig

# Tensors that the program hands over itself are kept at steps at which any collection wants something. Trainwarden has
# a collection for each of the schedules that there are, so that exactly those steps are theirs.
BY_HAND = "saved_by_hand"
_MATCHES_NOTHING = "(?!)"
# For each mode, and with every word of it: what is left out would be the hook's.
_NEVER = {core_mode(mode): {"save_interval": 1, "start_step": 0, "end_step": 0, "save_steps": []} for mode in ModeKeys}
# Built into trainwarden. Those that the program does not ask for by this name save nothing; "all" must not be named.
_BUILT_IN = (
    "weights", "biases", "gradients", "losses", "default",
    "optimizer_state", "buffers", "inputs", "outputs", "scalars",
)  # fmt: skip


def schedule_of(config: SaveConfig) -> dict[str, Any]:
    """A complete SaveConfig as trainwarden's `save`."""
    return {
        core_mode(mode): {
            "save_interval": of_mode.save_interval,
            "start_step": max(0, of_mode.start_step),
            "end_step": of_mode.end_step if of_mode.end_step is None else max(0, of_mode.end_step),
            "save_steps": list(of_mode.save_steps),
        }
        for mode, of_mode in ((mode, config.get_save_config(mode)) for mode in ModeKeys)
    }


def forms_of(config: ReductionConfig, histogram: bool = False) -> dict[str, bool]:
    """A ReductionConfig as trainwarden's `keep`. All forms may be false: nothing is kept."""
    return {
        "values": config.save_raw_tensor,
        "statistics": bool(config.requested()),
        "shape": config.save_shape,
        "histogram": histogram,
    }


def plan(collections: Mapping[str, Collection], saved: Iterable[str], histograms: bool) -> list[dict[str, Any]]:
    """The collections as trainwarden's options have them.

    Arguments:
        collections: prepared ones: each has a complete SaveConfig and a ReductionConfig.
        saved: names of those that are saved.
        histograms: TensorBoard is on.
    """
    names = set(saved)
    documents = [
        _document(collection, collection.name in names, histograms)
        for collection in collections.values()
        if collection.include_regex or collection.tensor_names
    ]
    given = {document["name"] for document in documents}
    documents += [{"name": name, "save": _NEVER} for name in _BUILT_IN if name not in given]
    return documents + _by_hand(collections[name] for name in sorted(names))


def by_hand_names(documents: Iterable[Mapping[str, Any]]) -> list[str]:
    """Of the collections of a plan that are for tensors that the program hands over itself."""
    return [str(document["name"]) for document in documents if str(document["name"]).startswith(BY_HAND)]


def _document(collection: Collection, is_saved: bool, histograms: bool) -> dict[str, Any]:
    save_config, reduction_config = _prepared(collection)
    has_histogram = histograms and collection.save_histogram and collection.name not in NON_HISTOGRAM_COLLECTIONS
    keep = forms_of(reduction_config, has_histogram)
    is_wanted = is_saved and any(keep.values())
    return {
        "name": collection.name,
        "include": list(collection.include_regex),
        "tensor_names": sorted(collection.tensor_names),
        "save": schedule_of(save_config) if is_wanted else _NEVER,
        "keep": keep if is_wanted else {"values": True},
    }


def _by_hand(collections: Iterable[Collection]) -> list[dict[str, Any]]:
    schedules: list[dict[str, Any]] = []
    for collection in collections:
        schedule = schedule_of(_prepared(collection)[0])
        if schedule not in schedules:
            schedules.append(schedule)
    return [
        {"name": f"{BY_HAND}_{index}" if index else BY_HAND, "include": [_MATCHES_NOTHING], "save": schedule,
         "keep": {"values": True}}
        for index, schedule in enumerate(schedules)
    ]  # fmt: skip


def _prepared(collection: Collection) -> tuple[SaveConfig, ReductionConfig]:
    save_config: Optional[SaveConfig] = collection.save_config
    reduction_config: Optional[ReductionConfig] = collection.reduction_config
    assert save_config is not None and reduction_config is not None, f"{collection.name} was not prepared"
    return save_config, reduction_config
