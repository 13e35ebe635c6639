"""Sample sources: what lies behind a place in a data set, as its own attributes tell: a file, a row.

No code of the program is run for it: neither __getitem__ nor a property. What is read are attributes that lie in the object
itself, and of those lists, tuples, arrays of NumPy, tables of pandas, and what torch and datasets keep in them. A list
counts only where it has as many items as the data set has samples: a list of shards is none of samples.
"""

from __future__ import annotations

import pathlib
import re
import sys
from bisect import bisect_right
from typing import Any, NamedTuple, Optional

import numpy as np

# Names of attributes that hold one item for each sample, in the order in which they are looked for.
_LISTS = (
    "samples", "imgs", "paths", "files", "filenames", "file_names", "file_paths", "filepaths", "file_list", "image_paths",
    "img_paths", "image_files", "img_files", "image_list", "images", "audio_paths", "audio_files", "video_paths", "video_files",
    "wav_files", "data_paths", "items", "entries", "records", "examples", "annotations", "ids", "keys", "urls",
    "_samples", "_paths", "_files", "_items", "_image_files", "_images",
)  # fmt: skip
# Of a table, or of an item that is a dict.
_COLUMNS = (
    "path", "file", "file_path", "filepath", "file_name", "filename", "image_path", "img_path", "image", "img",
    "audio_path", "audio", "video_path", "video", "url", "id", "image_id", "name",
)  # fmt: skip
# Of a data set that gives the samples of another one, each at its place.
_INNER = ("dataset", "subset", "base_dataset", "base", "ds", "data_set", "data", "_dataset")
# A word, or what ends as the name of a file does.
_PATH = re.compile(r"[^\s]+|[^\n\r]*\.[A-Za-z0-9]{1,8}")
_MAX_DEPTH = 6
_MAX_TEXT = 240


class Source(NamedTuple):
    data_set: str  # class of the innermost one
    text: Optional[str]  # `data/train/cat/0123.jpg`, or `row 812` of that data set where it is another number than was asked


def source_of(data_set: Any, index: int) -> Source:
    """What lies behind this place, as far as the data set tells."""
    try:
        inner, place = data_set, index
        for _ in range(_MAX_DEPTH):
            further = _inward(inner, _fields(inner), place)
            if further is None:
                break
            inner, place = further
        return Source(_kind_of(inner), _named(inner, _fields(inner), place) or (f"row {place}" if place != index else None))
    except Exception:  # an object that is not what it looks like
        return Source(_kind_of(data_set), None)


def _kind_of(data_set: Any) -> str:
    return type(data_set).__name__[:_MAX_TEXT]


def _fields(value: Any) -> dict[str, Any]:
    """Attributes that lie in the object itself: no property, and no __getattr__."""
    try:
        fields = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return fields if type(fields) is dict else {}


def _length(data_set: Any) -> int:
    """As the samplers of torch ask for it at the start of each epoch. Of 0 nothing is known."""
    length = getattr(type(data_set), "__len__", None)
    return int(length(data_set)) if length is not None else 0


def _inward(data_set: Any, fields: dict[str, Any], index: int) -> Optional[tuple[Any, int]]:
    """The data set within this one, and the place there."""
    sizes = fields.get("cumulative_sizes")
    if type(sizes) is list and type(fields.get("datasets")) is list:  # ConcatDataset
        number = bisect_right(sizes, index)
        return fields["datasets"][number], index - (sizes[number - 1] if number > 0 else 0)
    moved = _item(fields.get("indices"), index)
    if "dataset" in fields and isinstance(moved, (int, np.integer)):  # Subset
        return fields["dataset"], int(moved)
    for name in _INNER:
        inner = fields.get(name)
        # Numbers and texts have no fields; a list is no data set, and neither is a table.
        if inner is not None and _fields(inner) and hasattr(type(inner), "__getitem__") and not _is_table(inner):
            return (inner, index) if _length(inner) == _length(data_set) else None
    return None


def _named(data_set: Any, fields: dict[str, Any], index: int) -> Optional[str]:
    if type(data_set).__module__.split(".")[0] == "datasets" and "_data" in fields:
        return _row_of_arrow(data_set, fields, index)
    for name in _LISTS:
        if name in fields and _size(fields[name]) == _length(data_set):
            text = _text_in(_item(fields[name], index))
            if text is not None:
                return text
    for table in fields.values():
        if _is_table(table) and len(table) == _length(data_set):
            return _text_in_table(table, index)
    return None


def _row_of_arrow(data_set: Any, fields: dict[str, Any], index: int) -> str:
    """Of a data set of Hugging Face: its row, behind what select() and shuffle() have moved; and the file, if it has one."""
    mapping = fields.get("_indices")
    if mapping is not None:
        index = int(mapping.column(0)[index].as_py())
    table = fields["_data"]
    for name in _COLUMNS:
        if name in table.column_names:
            text = _text_in(table.column(name)[index].as_py())
            if text is not None:
                return text
    return f"row {index}"


def _is_table(value: Any) -> bool:
    pandas: Any = sys.modules.get("pandas")
    return pandas is not None and type(value) is getattr(pandas, "DataFrame", None)


def _text_in_table(table: Any, index: int) -> Optional[str]:
    for name in _COLUMNS:
        if name in table.columns:
            text = _text_in(table[name].iat[index])
            if text is not None:
                return text
    label = table.index[index]
    return f"row {label}" if not isinstance(label, (int, np.integer)) or int(label) != index else None


def _size(values: Any) -> int:
    if type(values) in (list, tuple) or (type(values) is np.ndarray and values.ndim == 1):
        return len(values)
    return 0


def _item(values: Any, index: int) -> Any:
    if type(values) in (list, tuple, range) or (type(values) is np.ndarray and values.ndim == 1):
        return values[index] if 0 <= index < len(values) else None
    if type(values).__module__ == "torch" and type(values).__name__ == "Tensor" and values.dim() == 1:
        return int(values[index]) if 0 <= index < len(values) else None
    return None


def _text_in(item: Any, depth: int = 0) -> Optional[str]:
    """An item's text: itself, the first one in a pair such as (path, class), or that of a column."""
    if isinstance(item, str):
        return _bounded(item) if item else None
    if isinstance(item, pathlib.PurePath):
        return _bounded(pathlib.PurePath.__str__(item))
    if type(item) in (tuple, list) and item and depth < 2:
        return _text_in(item[0], depth + 1)
    if type(item) is dict and depth < 2:
        found = (_text_in(item.get(name), depth + 1) for name in _COLUMNS)
        return next((text for text in found if text is not None), None)
    return None


def _bounded(text: str) -> Optional[str]:
    """A path or a name, and no sentence: samples themselves are not told. Of long ones the end says more."""
    text = str.__str__(text)
    if not _PATH.fullmatch(text[-_MAX_TEXT:]):
        return None
    return text if len(text) <= _MAX_TEXT else "..." + text[-_MAX_TEXT:]
