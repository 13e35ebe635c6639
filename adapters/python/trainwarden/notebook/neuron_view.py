"""NeuronView: how the numbers of a query and the keys make the weights of one head."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..errors import InvalidArgument, OutOfRange
from .answers import Answers
from .arrays_document import Arrays
from .attention_view import AttentionView, token_texts
from .given_attention import GivenAttention, GivenLayer
from .neuron_picture import NeuronPicture
from .run_answers import answers_of

Tensors = Mapping[str, Mapping[int, Any]]


class NeuronView(AttentionView):
    """Query, keys, their product number by number, q·k, scaled q·k, and softmax.

        NeuronView(trial, layer=7, head=0, query=3)                              # of a run
        NeuronView(input_tokens, keys=keys, queries=queries, layers=layers,      # of arrays, as the old helper
                   step=0, n_tokens=20, layer_names=layer_names)

    Arguments:
        source, step, n_tokens, head, item, live: as for AttentionHeadView.
        keys, queries: with tokens: by name of the tensor and step, each (batch, heads, positions, numbers).
        layers: with tokens: for each layer the names of its keys and of its queries.
        layer_names: with tokens: name -> index into `layers`; None: the layers are called by the names of their keys.
        layer: its number or name; None: the first.
        query: the position of the query's token.
    """

    mode = "neuron"

    def __init__(
        self,
        source: Any,
        keys: Tensors | None = None,
        queries: Tensors | None = None,
        layers: Sequence[Sequence[str]] | None = None,
        step: int | None = None,
        n_tokens: int = 20,
        layer_names: Mapping[str, int] | None = None,
        *,
        layer: int | str | None = None,
        head: int = 0,
        query: int = 0,
        item: int = 0,
        live: bool = False,
    ):
        given = (keys, queries, layers)
        if any(each is not None for each in given) and any(each is None for each in given):
            raise InvalidArgument("expected tokens with keys, queries and layers, or a trial alone; some are missing")
        if keys is None or queries is None or layers is None:
            answers = answers_of(source)
        else:
            answers = _given_vectors(source, keys, queries, layers, layer_names)
        self.query = int(query)
        super().__init__(answers, layer=layer, head=head, step=step, item=item, n_tokens=n_tokens)
        self._settle()
        if live:
            self._live()
        if keys is not None:
            self._show_by_itself()

    def select_query(self, query: int) -> None:
        """By its position."""
        self._select(query=int(query))

    def _params(self) -> dict[str, str]:
        return {**super()._params(), "query": str(self.query)}

    def _on_widget(self, change: Any) -> None:
        self.query = int(self._widget.params.get("query", self.query))
        super()._on_widget(change)

    def data(self) -> dict[str, Any]:
        """What is shown, float32: query [d], key and product [keys, d], dot, scaled and softmax [keys]; the labels of
        the keys; scale, layer, head, step, item."""
        picture = self._picture()
        parts = ("query", "key", "product", "dot", "scaled", "softmax", "scale", "keys", "query_label")
        place = {"layer": self.layers[self.layer], "head": self.head, "step": self.step, "item": self.item}
        return {**{part: getattr(picture, part) for part in parts}, **place}

    def svg(self) -> str:
        return self._picture().svg()

    def text(self) -> str:
        return self._picture().text()

    def _asked(self) -> Arrays:
        place = {"layer": self.layer, "head": self.head, "step": self.step, "item": self.item}
        return self.answers.arrays("/attention/neuron", **place, query=self.query, first=self.n_tokens)

    def _picture(self) -> NeuronPicture:
        answer = self._asked()
        return NeuronPicture(
            query_label=_label_of(answer, self.query),
            keys=token_texts(answer, "tokens_key", answer["key"].shape[0]),
            scale=answer.json("scale"),
            place=self._words_of_place(answer),
            notes=self._words_of_cut(answer),
            **{name: answer[name] for name in ("query", "key", "product", "dot", "scaled", "softmax")},
        )

    def _words_of_place(self, answer: Arrays) -> str:
        layer = self._listing()[self.layer]["name"]
        return f"{layer} · head {self.head} · step {self.step} · item {self.item} · query {self.query}"


def _label_of(answer: Arrays, query: int) -> str:
    texts: list[str] = answer.json("tokens_query", [])
    return texts[query] if query < len(texts) else str(query)


def _given_vectors(
    tokens: Any, keys: Tensors, queries: Tensors, layers: Sequence[Sequence[str]], names: Mapping[str, int] | None
) -> Answers:
    called = {index: name for name, index in (names or {}).items()}
    made = []
    for index, (key, query) in enumerate(layers):
        _check_there(key, keys, "keys")
        _check_there(query, queries, "queries")
        made.append(GivenLayer(called.get(index, key), query=queries[query], key=keys[key]))
    return GivenAttention(tokens, made)


def _check_there(name: str, tensors: Iterable[str], what: str) -> None:
    if name not in tensors:
        raise OutOfRange(f"expected {what} of {name!r}, which `layers` names; there are {', '.join(sorted(tensors))}")
