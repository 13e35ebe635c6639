"""Which token stands at which position: only what is certain becomes a label."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Union

import numpy as np

# Of one step, or of each step by its number.
GivenTokens = Union[Any, Mapping[int, Any], None]


@dataclass(frozen=True)
class Labels:
    """`texts` has one text a position, or is None, and the note says why."""

    texts: list[str] | None
    note: str = ""


def labels_for(tokens: GivenTokens, step: int, item: int, items: int, length: int) -> Labels:
    """The labels of the `length` positions of a batch item at a step.

    `tokens` is one set for all steps, or a mapping from step to its set. A set is texts of shape (items, length), of
    one item, or of all items one after another, each from its "[CLS]" on. Where the numbers disagree nothing is
    labelled.
    """
    if tokens is None:
        return Labels(None, "no labels: no tokens were given")
    if isinstance(tokens, Mapping):
        if step not in tokens:
            there = ", ".join(str(each) for each in sorted(tokens)[:10])
            return Labels(None, f"no labels: tokens were given for the steps {there}, not for step {step}")
        return _of_set(tokens[step], item, items, length)
    labels = _of_set(tokens, item, items, length)
    if labels.texts is None:
        return labels
    return Labels(labels.texts, _both(labels.note, "one set of tokens was given for all steps"))


def _of_set(tokens: Any, item: int, items: int, length: int) -> Labels:
    array = np.asarray(tokens)
    texts = [each.decode("utf-8", "replace") if isinstance(each, bytes) else str(each) for each in array.ravel()]
    if len(texts) == items * length and (items == 1 or array.ndim != 1 or _whole_sequences(texts, items, length)):
        return Labels(texts[item * length : (item + 1) * length])
    if array.ndim == 1 and len(texts) == length:
        if item == 0:
            return Labels(texts, "" if items == 1 else "tokens of one batch item were given, taken for item 0")
        return Labels(None, f"no labels: tokens of one batch item were given, taken for item 0, not for {item}")
    begins = [index for index, text in enumerate(texts) if text == "[CLS]"]
    if array.ndim == 1 and len(begins) == items and begins[0] == 0:
        ends = [*begins[1:], len(texts)]
        if max(end - begin for begin, end in zip(begins, ends)) <= length:
            own = texts[begins[item] : ends[item]]
            note = f"tokens of {items} batch items were given in one list, taken apart at each [CLS]"
            return Labels(own + [""] * (length - len(own)), note)
    found = " x ".join(str(size) for size in array.shape)
    return Labels(None, f"no labels: {found} tokens do not fit {items} batch items of {length} positions")


def _whole_sequences(texts: list[str], items: int, length: int) -> bool:
    """A flat list as long as all items together may still be of items of other lengths: their marks show which."""
    begins = [index for index, text in enumerate(texts) if text == "[CLS]"]
    return not begins or begins == [item * length for item in range(items)]


def _both(first: str, second: str) -> str:
    return f"{first}; {second}" if first else second
