"""What the views of attention share: whom they ask, and which layer, head, step and batch item they show."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import InvalidArgument, OutOfRange
from .answers import Answers
from .arrays_document import Arrays
from .displayed import Displayed


class AttentionView(Displayed):
    """Asks the answers for what it shows; each select_...() draws anew where the view is displayed."""

    def __init__(
        self, answers: Answers, *, layer: int | str | None, head: int, step: int | None, item: int, n_tokens: int
    ):
        self.answers = answers
        self.n_tokens = int(n_tokens)
        if self.n_tokens < 1:
            raise InvalidArgument(f"expected n_tokens to be at least 1, got {n_tokens}")
        self.item = int(item)
        self.layer = 0 if layer is None else self._layer_number(layer)
        self.head = int(head)
        self.step = self._newest_step() if step is None else int(step)
        self._check_head(self.head)

    # The seed's selectors. What cannot be shown is refused, and the view stays as it is.

    def select_layer(self, layer: int | str) -> None:
        """By its number or its name."""
        self._select(layer=self._layer_number(layer))

    def select_head(self, head: int) -> None:
        self._check_head(int(head))
        self._select(head=int(head))

    def select_step(self, step: int) -> None:
        self._select(step=int(step))

    def select_item(self, item: int) -> None:
        """Which text of the batch."""
        self._select(item=int(item))

    def _select(self, **words: int) -> None:
        before = {name: getattr(self, name) for name in words}
        self.__dict__.update(words)
        try:
            self._asked()
        except Exception:
            self.__dict__.update(before)
            raise
        self._changed()

    # What it is about.

    @property
    def layers(self) -> list[str]:
        """Names, as select_layer() takes them."""
        return [layer["name"] for layer in self._listing()]

    @property
    def heads(self) -> int:
        return int(self._listing()[self.layer]["heads"])

    @property
    def steps(self) -> list[int]:
        """Those that have attention, rising."""
        ranges = self.answers.json("/attention/steps")["steps"]
        return [first + stride * index for first, stride, count in ranges for index in range(count)]

    def _asked(self) -> Arrays:
        """The numbers that are shown."""
        raise NotImplementedError

    def _words_of_place(self, answer: Arrays) -> str:
        """Where in the run that is, in one line."""
        layer = self._listing()[self.layer]["name"]
        place = f"{layer} · head {self.head} · step {self.step} · item {self.item}"
        mode = answer.words.get("mode", "global")
        if mode != "global":
            place += f" ({mode} {answer.json('mode_step')})"
        if answer.json("recomputed", False):
            place += " · weights recomputed from queries and keys"
        return place

    def _words_of_cut(self, answer: Arrays) -> str:
        shown, length = min(self.n_tokens, answer.json("length")), answer.json("length")
        cut = f"the first {shown} of {length} tokens" if shown < length else f"{length} tokens"
        note = answer.words.get("tokens_note", "")
        return f"{cut}; {note}" if note else cut

    def _listing(self) -> list[dict[str, Any]]:
        layers: list[dict[str, Any]] = self.answers.json("/attention")["layers"]
        return layers

    def _layer_number(self, layer: int | str) -> int:
        names = self.layers
        if isinstance(layer, str):
            if layer not in names:
                raise InvalidArgument(f"expected a layer, {_some(names)}, got {layer!r}")
            return names.index(layer)
        if not 0 <= int(layer) < len(names):
            raise OutOfRange(f"expected a layer from 0 to {len(names) - 1}, got {layer}")
        return int(layer)

    def _check_head(self, head: int) -> None:
        if not 0 <= head < self.heads:
            raise OutOfRange(f"expected a head from 0 to {self.heads - 1}, got {head}")

    def _newest_step(self) -> int:
        steps = self.steps
        if not steps:
            raise OutOfRange("expected a step that has attention, there is none yet")
        return steps[-1]


def token_texts(answer: Arrays, word: str, count: int) -> list[str]:
    """The labels of the first `count` positions: tokens, or positions where there are none."""
    texts: list[str] | None = answer.json(word)
    if texts is None or len(texts) < count:
        return [str(position) for position in range(count)]
    return texts[:count]


def _some(names: Iterable[str]) -> str:
    listed = [repr(name) for name in names]
    return ", ".join(listed[:6]) + (", ..." if len(listed) > 6 else "")
