"""What a saved page holds of attention: the first tokens of one batch item, by layer and step. web/src/notebook/
frozen_source.ts reads it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import NotFound, OutOfRange
from .answers import Answers
from .arrays_document import to_bytes
from .given_attention import softmax

# Words of an answer that are about what was asked, not about the moment.
_OF_THE_QUESTION = ("heads", "key_value_head", "queries")


@dataclass(frozen=True)
class Archive:
    """`words` is JSON, `numbers` a safetensors document."""

    words: dict[str, Any]
    numbers: bytes
    left_out: int  # moments (a layer at a step) that were there and did not fit


def archive_of(
    answers: Answers, *, layer: int, step: int, item: int, first: int, most_bytes: int, vectors: bool
) -> Archive:
    """The moments nearest to `layer` and `step` first, until `most_bytes` of numbers are there; with queries and keys
    where `vectors` is set and they were captured."""
    listing, steps = answers.json("/attention"), answers.json("/attention/steps")
    arrays: dict[str, Array] = {}
    words: dict[str, dict[str, str]] = {}
    held, left_out = 0, 0
    for place in _nearest_first(listing["layers"], _listed(steps["steps"]), layer, step):
        if held >= most_bytes:
            left_out += 1
            continue
        moment = _moment(answers, listing["layers"][place[0]], place[1], item, first, vectors)
        if moment is None:
            continue
        name = f"{place[0]}/{place[1]}"
        words[name], numbers = moment
        arrays.update({f"{kind}/{name}": array for kind, array in numbers.items()})
        held += sum(array.nbytes for array in numbers.values())
    document = {
        "run": {"id": answers.run, "name": answers.name},
        "item": item,
        "listing": listing,
        "steps": {"steps": [[each, 1, 1] for each in sorted({int(name.split("/")[1]) for name in words})], "modes": []},
        "words": words,
    }
    return Archive(document, to_bytes(arrays, {}), left_out)


def _listed(ranges: Iterable[tuple[int, int, int]]) -> list[int]:
    return [first + stride * index for first, stride, count in ranges for index in range(count)]


def _nearest_first(
    layers: list[dict[str, Any]], steps: list[int], layer: int, step: int
) -> list[tuple[int, int]]:
    """The shown moment, its layer at other steps and its step in other layers, then all others."""
    places = [(each["layer"], other) for each in layers for other in steps]
    return sorted(places, key=lambda place: ((place[0] != layer) + (place[1] != step), abs(place[1] - step), place))


def _moment(
    answers: Answers, layer: dict[str, Any], step: int, item: int, first: int, vectors: bool
) -> tuple[dict[str, str], dict[str, Array]] | None:
    """Words and numbers of a layer at a step; None when it is not there."""
    try:
        answer = answers.arrays("/attention/head", layer=layer["layer"], step=step, item=item, first=first)
    except (NotFound, OutOfRange):
        return None
    if answer.json("step") != step:
        return None  # the newest before it, which has a place of its own
    words = {name: word for name, word in answer.words.items() if name not in _OF_THE_QUESTION}
    numbers = {"weights": answer["weights"]}
    found = answers.vectors(layer, step, item) if vectors else None
    if found is not None:
        query, key = found
        shown = query[:, :first]
        numbers["query"], numbers["key"] = shown, key[:, :first]
        numbers["softmax"] = _softmax_of(shown, key, layer)[:, :, :first]
    return words, numbers


def _softmax_of(query: Array, key: Array, layer: dict[str, Any]) -> Array:
    """[heads, queries, keys] over all keys."""
    shared = np.repeat(key, query.shape[0] // key.shape[0], axis=0)
    scores = query.astype(np.float64) @ shared.astype(np.float64).transpose(0, 2, 1) * layer["scale"]
    position, other = np.arange(scores.shape[1])[:, np.newaxis], np.arange(scores.shape[2])[np.newaxis]
    if layer["mask"] != "none":
        scores[:, other > position] = -np.inf
    if layer["mask"] == "window":
        scores[:, other <= position - layer["window"]] = -np.inf
    return softmax(scores)
