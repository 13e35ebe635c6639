"""What the views of attention share: whom they ask, and which layer, head, step and batch item they show."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..errors import InvalidArgument, NotFound, OutOfRange, ResourceExhausted
from .answers import Answers
from .archive import archive_of
from .arrays_document import Arrays
from .bundle import Bundle, bundle
from .displayed import Displayed
from .live import live_widget
from .page_html import page_of

_MOST_DISPLAYED, _MOST_WRITTEN = 1_500_000, 36_000_000  # bytes of numbers; as text in the page a third more
_WARNED_MB, _REFUSED_MB = 5, 50


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
        self.layer = self._layer_number(0 if layer is None else layer)
        self.head = int(head)
        self._check_head(self.head)
        self.step = self._newest_step() if step is None else int(step)
        self._follows = step is None
        self._widget: Any = None
        self._linked: list[AttentionView] = []

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

    def link(self, other: AttentionView) -> None:
        """What is selected here is selected there, too, from now on, and the other way round: the step and, where both
        have them, layer, head, item and query. What the other cannot show is refused there and said here."""
        self._linked.append(other)
        other._linked.append(self)

    def _tell_linked(self, words: dict[str, int]) -> None:
        for other in self._linked:
            news = {name: word for name, word in words.items() if getattr(other, name, word) != word}
            if news:
                other._select(**news)

    def _select(self, **words: int) -> None:
        before = {name: getattr(self, name) for name in ("step", *words)}
        self.__dict__.update(words)
        try:
            self._settle()
        except Exception:
            self.__dict__.update(before)
            raise
        self._follows = self._follows and "step" not in words
        if self._widget is None:
            self._changed()
        else:
            self._widget.set_trait("params", {**self._widget.params, **self._params()})
            self._widget.set_trait("step", None if self._follows else self.step)
        self._tell_linked(words)

    def _settle(self) -> None:
        """Asks for what is to be shown; of a run that is the newest step at or before the one that was named."""
        self.step = int(self._asked().json("step"))

    def refresh(self) -> None:
        """Draws anew where it is shown: at the newest step, when none was chosen."""
        self.answers.version()  # takes in what was written since
        if self._follows:
            self.step = self._newest_step()
        self._settle()
        self._changed()

    # As a page, and alive.

    mode = ""  # of the page's attention view

    def html(self) -> str | None:
        """A page of what lies nearest to what is shown, up to 1.5 MB of numbers; None when the package was built
        without the page."""
        held = bundle()
        return None if held is None else self._page(held, _MOST_DISPLAYED)[0]

    def page_height(self) -> int:
        return 380 + 24 * min(self.n_tokens, 25)  # controls and a row a token; more are scrolled

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Writes a page with all layers and steps, which opens without a network and without Jupyter.

        Warns of more than 5 MB, and refuses more than 50.
        """
        held = bundle()
        if held is None:
            super().to_html(path)
            return
        page, left_out = self._page(held, _MOST_WRITTEN)
        size = len(page.encode("utf-8")) / 1e6
        if left_out or size > _REFUSED_MB:
            raise ResourceExhausted(
                f"expected a page of at most {_REFUSED_MB} MB, it would have more: "
                f"show fewer tokens than {self.n_tokens}"
            )
        if size > _WARNED_MB:
            warnings.warn(f"{os.fspath(path)} has {size:.0f} MB: fewer tokens make it smaller", stacklevel=2)
        Path(path).write_text(page, encoding="utf-8")

    def _page(self, held: Bundle, most_bytes: int) -> tuple[str, int]:
        archive = archive_of(
            self.answers, layer=self.layer, step=self.step, item=self.item, first=self.n_tokens,
            most_bytes=most_bytes, vectors=self.mode == "neuron",
        )  # fmt: skip
        state = {"step": self.step, "params": self._params()}
        return page_of(held, archive, state, f"{self.mode} view", self.svg()), archive.left_out

    def _params(self) -> dict[str, str]:
        """The words of the page's links."""
        words = {"layer": self.layer, "heads": self.head, "item": self.item, "first": self.n_tokens}
        return {"mode": self.mode, **{name: str(word) for name, word in words.items()}}

    def _live(self) -> None:
        """Is shown as a widget from now on."""
        whole = ["model", "head", "matrix", "text", "neuron", "mapping"]
        given = ["head", "neuron"] if self.mode == "neuron" else ["head"]  # what arrays have answers for
        modes = whole if self.answers.name else given
        self._widget = live_widget(self.answers, modes, None if self._follows else self.step, self._params())
        self._widget.observe(self._on_widget, ["step", "params"])

    @property
    def widget(self) -> Any:
        """The widget of a view with live=True, else None."""
        return self._widget

    def _on_widget(self, change: Any) -> None:
        """The user has chosen something in the widget."""
        params, step = self._widget.params, self._widget.step
        self._follows = step is None
        self.step = self._newest_step() if step is None else int(step)
        self.layer = int(params.get("layer", self.layer))
        self.head = int(params.get("heads", str(self.head)).split(",")[0].replace("all", "0"))
        self.item = int(params.get("item", self.item))
        if params.get("first", "all") != "all":
            self.n_tokens = int(params["first"])
        self._tell_linked({name: getattr(self, name) for name in ("step", "layer", "head", "item")})

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        if self._widget is None:
            return super()._repr_mimebundle_(include, exclude)
        still = {"text/plain": self.text(), "image/svg+xml": self.svg()}  # for frontends without widgets
        shown = self._widget._repr_mimebundle_()
        data, *_ = shown if isinstance(shown, tuple) else (shown,)
        return {**data, **still}

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
        if not names:
            raise NotFound(f"expected a run with attention: {self.answers.json('/attention')['note']}")
        if isinstance(layer, str):
            if layer not in names:
                raise InvalidArgument(f"expected a layer, {_some(names)}, got {layer!r}")
            return names.index(layer)
        if not 0 <= int(layer) < len(names):
            raise OutOfRange(f"expected a layer from 0 to {len(names) - 1}, got {layer}")
        return int(layer)

    def _check_head(self, head: int) -> None:
        if self.heads == 0:  # the shapes do not show them
            raise InvalidArgument(f"expected a layer whose heads are known: {self.answers.json('/attention')['note']}")
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
