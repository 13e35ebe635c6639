"""Answers about attention from arrays that were given: tensors by name and step, as the old notebooks collect them."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InvalidArgument, NotFound, OutOfRange
from .answers import Answers, Question, Reply
from .arrays_document import to_bytes
from .token_labels import GivenTokens, labels_for

# Whole matrices of longer texts are for tiles, which only the program has.
_LONGEST = 1024

ByStep = Mapping[int, Any]


@dataclass(frozen=True)
class GivenLayer:
    """One layer: weights (batch, heads, queries, keys) by step, or queries and keys, each (batch, heads, positions,
    numbers) by step; of the latter there may be fewer heads, which several heads of the queries then share."""

    name: str
    weights: ByStep | None = None
    query: ByStep | None = None
    key: ByStep | None = None

    def steps(self) -> list[int]:
        if self.weights is not None:
            return sorted(int(step) for step in self.weights)
        assert self.query is not None and self.key is not None
        return sorted(int(step) for step in set(self.query) & set(self.key))

    def tensors(self, step: int) -> tuple[Array | None, Array | None, Array | None]:
        """Weights, queries and keys of the step, None where there are none."""
        if step not in self.steps():
            there = ", ".join(str(each) for each in self.steps()[:20])
            raise OutOfRange(f"{self.name} is there at the steps {there}, not at step {step}")
        parts = [
            (self.weights, "weights (batch, heads, queries, keys)"),
            (self.query, "queries (batch, heads, positions, numbers)"),
            (self.key, "keys (batch, heads, positions, numbers)"),
        ]
        weights, query, key = (None if part is None else self._array(part[step], what) for part, what in parts)
        return weights, query, key

    def _array(self, value: Any, what: str) -> Array:
        array: Array = np.asarray(value)
        if array.ndim != 4:
            raise InvalidArgument(f"expected of {self.name} {what}, got an array of shape {array.shape}")
        return array.astype(np.float32, copy=False)


def softmax(scores: Array) -> Array:
    """Over the last axis; of float32, computed in float64."""
    shifted = scores.astype(np.float64) - scores.max(axis=-1, keepdims=True)
    powers = np.exp(shifted)
    weights: Array = (powers / powers.sum(axis=-1, keepdims=True)).astype(np.float32)
    return weights


class GivenAttention(Answers):
    """The arrays stay the caller's: what is put into them later is seen."""

    def __init__(self, tokens: GivenTokens, layers: Sequence[GivenLayer]):
        self._tokens = tokens
        self._layers = layers
        if not layers:
            raise InvalidArgument("expected tensors of at least one layer, got none")

    def version(self) -> int:
        return sum(len(layer.steps()) for layer in self._layers)

    def ask(self, address: str) -> Reply:
        question = Question.of(address, self.run)
        answers = {
            "/attention": self._listing,
            "/attention/steps": self._steps,
            "/attention/head": self._head,
            "/attention/rows": self._rows,
            "/attention/neuron": self._neuron,
        }
        if question.path not in answers:
            raise NotFound(f"{question.path} is answered for runs only, not for arrays that were given")
        return answers[question.path](question)

    def vectors(self, layer: dict[str, Any], step: int, item: int) -> tuple[Array, Array] | None:
        _, query, key = self._layers[layer["layer"]].tensors(step)
        return None if query is None or key is None else (query[item], key[item])

    # Words.

    def _listing(self, question: Question) -> Reply:
        layers = [self._described(index, layer) for index, layer in enumerate(self._layers)]
        nobody: list[object] = []
        candidates = {role: nobody for role in ("attention", "query", "key", "tokens")}
        note = "arrays that were given to the view"
        document = {"source": "file", "note": note, "layers": layers, "tokens": None, "candidates": candidates}
        return Reply(False, json.dumps(document).encode())

    def _described(self, index: int, layer: GivenLayer) -> dict[str, object]:
        steps = layer.steps()
        if not steps:
            raise InvalidArgument(f"expected {layer.name} at one step at least, got none")
        weights, query, key = layer.tensors(steps[0])
        heads = weights if weights is not None else query
        assert heads is not None
        size = 0 if query is None else query.shape[3]
        return {
            "layer": index,
            "name": layer.name,
            "attention": None if weights is None else _named(layer.name),
            "query": None if query is None else _named(layer.name + " query"),
            "key": None if key is None else _named(layer.name + " key"),
            "heads": heads.shape[1],
            "key_value_heads": heads.shape[1] if key is None else key.shape[1],
            "head_size": size,
            "scale": 1 / math.sqrt(size) if size else 0,
            "mask": "none",
            "layout": "BHTD",
        }

    def _steps(self, question: Question) -> Reply:
        steps = sorted({step for layer in self._layers for step in layer.steps()})
        document = {"steps": [[step, 1, 1] for step in steps], "modes": []}
        return Reply(False, json.dumps(document).encode())

    # Numbers.

    def _head(self, question: Question) -> Reply:
        weights, words = self._weights(question)
        first = question.integer("first", max(weights.shape[1:])) or max(weights.shape[1:])
        if first > _LONGEST and max(weights.shape[1:]) > _LONGEST:
            raise InvalidArgument(f"expected first=N of at most {_LONGEST} positions, got {first}")
        shown = weights[:, :first, :first]
        return _arrays({"weights": shown}, words)

    def _rows(self, question: Question) -> Reply:
        weights, words = self._weights(question)
        queries = question.integers("queries")
        self._check(queries, weights.shape[1], "queries", "a query of the text")
        return _arrays({"weights": weights[:, queries, :]}, words)

    def _neuron(self, question: Question) -> Reply:
        layer, step = self._layer(question), question.integer("step")
        _, query, key = layer.tensors(step)
        if query is None or key is None:
            raise NotFound(f"of {layer.name} no queries and keys were given, so there is no neuron view of it")
        head, position, item = question.integer("head", 0), question.integer("query", 0), question.integer("item", 0)
        self._check([item], query.shape[0], "item", "a batch item")
        self._check([head], query.shape[1], "head", "a head")
        self._check([position], query.shape[2], "query", "a position")
        shared = head // _heads_a_key(query, key)
        scale = 1 / math.sqrt(query.shape[3])
        numbers = neuron_numbers(query[item, head, position], key[item, shared], scale)
        first = question.integer("first", key.shape[2]) or key.shape[2]
        cut = {name: array if name == "query" else array[:first] for name, array in numbers.items()}
        words = self._words(question, step, item, query.shape[0], query.shape[2], key.shape[2])
        words.update(scale=scale, key_value_head=shared, heads=[head])
        return _arrays(cut, words)

    def _weights(self, question: Question) -> tuple[Array, dict[str, Any]]:
        """Of the heads that are asked for, [heads, queries, keys]."""
        layer, step, item = self._layer(question), question.integer("step"), question.integer("item", 0)
        weights, query, key = layer.tensors(step)
        whole = weights if weights is not None else query
        assert whole is not None
        self._check([item], whole.shape[0], "item", "a batch item")
        heads = question.integers("heads") or list(range(whole.shape[1]))
        self._check(heads, whole.shape[1], "heads", "a head")
        if weights is not None:
            chosen = weights[item, heads]
            shared = heads
        else:
            assert query is not None and key is not None
            shared = [head // _heads_a_key(query, key) for head in heads]
            scores = query[item, heads] @ key[item, shared].transpose(0, 2, 1)
            chosen = softmax(scores / math.sqrt(query.shape[3]))
        words = self._words(question, step, item, whole.shape[0], chosen.shape[1], chosen.shape[2])
        words.update(heads=heads, key_value_head=shared, recomputed=weights is None)
        return chosen, words

    def _words(
        self, question: Question, step: int, item: int, items: int, length: int, key_length: int
    ) -> dict[str, Any]:
        labels = labels_for(self._tokens, step, item, items, length)
        words: dict[str, Any] = {
            "layer": question.integer("layer", 0),
            "step": step,
            "mode": "global",
            "mode_step": step,
            "item": item,
            "items": items,
            "length": length,
            "key_length": key_length,
            "recomputed": True,
            "tokens_note": labels.note,
        }
        if labels.texts is not None:
            words["tokens_query"] = labels.texts
            if key_length == length:
                words["tokens_key"] = labels.texts
        return words

    def _layer(self, question: Question) -> GivenLayer:
        index = question.integer("layer", 0)
        self._check([index], len(self._layers), "layer", "a layer")
        return self._layers[index]

    @staticmethod
    def _check(numbers: list[int], count: int, name: str, what: str) -> None:
        for number in numbers:
            if not 0 <= number < count:
                raise OutOfRange(f"expected {name} to be {what}, 0 to {count - 1}, got {number}")


def neuron_numbers(query: Array, key: Array, scale: float) -> dict[str, Array]:
    """How a query [d] comes to its weights over the keys [T, d]: product, its sums, scaled, softmax over all keys."""
    product = query[np.newaxis, :] * key
    dot = product.sum(axis=1, dtype=np.float64)
    scaled = dot * scale
    return {
        "query": query,
        "key": key,
        "product": product,
        "dot": dot.astype(np.float32),
        "scaled": scaled.astype(np.float32),
        "softmax": softmax(scaled),
    }


def _heads_a_key(query: Array, key: Array) -> int:
    if query.shape[0] != key.shape[0] or query.shape[3] != key.shape[3] or query.shape[1] % key.shape[1] != 0:
        raise InvalidArgument(
            "expected queries and keys of the same batch and head size, the heads of the keys dividing those of the "
            f"queries, got {query.shape} and {key.shape}"
        )
    return query.shape[1] // key.shape[1]


def _named(name: str) -> dict[str, str]:
    return {"id": "", "name": name}


def _arrays(arrays: dict[str, Array], words: dict[str, Any]) -> Reply:
    texts = {name: word if isinstance(word, str) else json.dumps(word) for name, word in words.items() if word != ""}
    return Reply(True, to_bytes(arrays, texts))
