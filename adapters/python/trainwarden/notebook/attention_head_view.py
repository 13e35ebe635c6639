"""AttentionHeadView: which token looks at which, of one head."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .answers import Answers
from .arrays_document import Arrays
from .attention_view import AttentionView, token_texts
from .given_attention import GivenAttention, GivenLayer
from .head_picture import HeadPicture
from .run_answers import answers_of


class AttentionHeadView(AttentionView):
    """Two columns of tokens, and a line for each weight.

        AttentionHeadView(trial, layer=7, head=0)                     # of a run
        AttentionHeadView(input_tokens, tensors, step=0, layer=name)  # of arrays, as the old helper

    Arguments:
        source: a trial (ours or smdebug's), or the tokens: of shape (batch, positions), of one text, of the texts of
            the batch one after another, or any of these by step.
        tensors: with tokens: the weights by name of the layer and step, each (batch, heads, queries, keys). What is put
            into it later can be selected.
        step: of a run a global step; None: the newest.
        layer: its number or name; None: the first.
        n_tokens: how many tokens are shown, the first ones.
        item: which text of the batch.
        live: a widget that follows the run, with the page's own controls (needs `trainwarden[notebook]`).

    Made from arrays inside of IPython it shows itself at once, as the old helper does.
    """

    mode = "head"

    def __init__(
        self,
        source: Any,
        tensors: Mapping[str, Mapping[int, Any]] | None = None,
        step: int | None = None,
        layer: int | str | None = None,
        n_tokens: int = 20,
        *,
        head: int = 0,
        item: int = 0,
        live: bool = False,
    ):
        answers = answers_of(source) if tensors is None else _given_weights(source, tensors)
        super().__init__(answers, layer=layer, head=head, step=step, item=item, n_tokens=n_tokens)
        self._settle()
        if live:
            self._live()
        if tensors is not None:
            self._show_by_itself()

    def data(self) -> dict[str, Any]:
        """What is shown: weights float32 [queries, keys], queries and keys (the labels), layer, head, step, item."""
        picture = self._picture()
        place = {"layer": self.layers[self.layer], "head": self.head, "step": self.step, "item": self.item}
        return {"weights": picture.weights, "queries": picture.queries, "keys": picture.keys, **place}

    def svg(self) -> str:
        return self._picture().svg()

    def text(self) -> str:
        return self._picture().text()

    def _asked(self) -> Arrays:
        return self.answers.arrays(
            "/attention/head", layer=self.layer, heads=self.head, step=self.step, item=self.item, first=self.n_tokens
        )

    def _picture(self) -> HeadPicture:
        answer = self._asked()
        (weights,) = answer["weights"]
        return HeadPicture(
            weights,
            token_texts(answer, "tokens_query", weights.shape[0]),
            token_texts(answer, "tokens_key", weights.shape[1]),
            self.head,
            self._words_of_place(answer),
            self._words_of_cut(answer),
        )


def _given_weights(tokens: Any, tensors: Mapping[str, Mapping[int, Any]]) -> Answers:
    return GivenAttention(tokens, [GivenLayer(name, weights=by_step) for name, by_step in tensors.items()])
