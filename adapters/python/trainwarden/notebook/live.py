"""A view that stays alive in Jupyter: an anywidget, whose questions the kernel answers."""

from __future__ import annotations

import atexit
import importlib
import threading
import weakref
from collections.abc import Callable
from typing import Any

from ..errors import Error, FailedPrecondition, code_of
from .answers import Answers
from .bundle import bundle

_LOOK_EVERY_S = 0.5


def live_widget(answers: Answers, modes: list[str], step: int | None, params: dict[str, str]) -> Any:
    """The widget. Its traits `step` (None: the newest) and `params` (the words of the page's links) are what it shows,
    from both sides; `version` grows with news of the run, which makes it ask anew.

    Raises:
        FailedPrecondition: anywidget is not installed, or the package was built without the page.
    """
    held = bundle()
    if held is None:
        raise FailedPrecondition("live=True needs the page's views, without which this package was built")
    try:
        anywidget = importlib.import_module("anywidget")
        traitlets = importlib.import_module("traitlets")
    except ImportError:
        raise FailedPrecondition(
            'live=True needs anywidget, which is not installed: pip install "trainwarden[notebook]"'
        ) from None
    traits = {
        "_esm": held.script,
        "_css": held.styles,
        "run": traitlets.Dict({"id": answers.run, "name": answers.name}).tag(sync=True),
        "modes": traitlets.List(modes).tag(sync=True),
        "step": traitlets.Int(step, allow_none=True).tag(sync=True),
        "params": traitlets.Dict(params).tag(sync=True),
        "version": traitlets.Int(answers.version()).tag(sync=True),
    }
    widget = type("AttentionWidget", (anywidget.AnyWidget,), traits)()
    widget.on_msg(_answering(answers))
    _Follower(widget, answers).start()
    return widget


def _answering(answers: Answers) -> Callable[[Any, Any, list[Any]], None]:
    def on_message(widget: Any, message: Any, buffers: list[Any]) -> None:
        if isinstance(message, dict) and message.get("kind") == "ask":
            reply, body = answer_to(answers, message)
            widget.send(reply, body)

    return on_message


def answer_to(answers: Answers, message: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    """The message that answers one of kind "ask", and its buffers."""
    head = {"kind": "answer", "id": message.get("id")}
    try:
        reply = answers.ask(str(message.get("address")))
    except Error as error:
        return {**head, "type": "error", "code": code_of(error), "message": str(error)}, []
    return {**head, "type": "arrays" if reply.is_arrays else "json"}, [reply.body]


class _Follower(threading.Thread):
    """Looks for news until the widget is gone or the process ends."""

    def __init__(self, widget: Any, answers: Answers):
        super().__init__(name="trainwarden-notebook", daemon=True)
        self._widget = weakref.ref(widget)
        self._answers = answers
        self._ended = threading.Event()
        # A thread that is inside of the core when the interpreter ends would end the process with a crash.
        atexit.register(self.end)
        widget.observe(lambda change: self._ended.set() if change.new is None else None, "comm")

    def end(self) -> None:
        self._ended.set()
        self.join()

    def run(self) -> None:
        while not self._ended.wait(_LOOK_EVERY_S):
            widget = self._widget()
            if widget is None:
                return
            try:
                widget.version = self._answers.version()
            except Error:
                return  # the run is gone; a question about it says so to who looks
