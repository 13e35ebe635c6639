"""Views that stay alive: the messages between widget and kernel, without a browser."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from attention_arrays import SCORES, TOKENS, scores
from attention_runs import Writer, weights_at, write_run

from trainwarden.errors import FailedPrecondition
from trainwarden.notebook import AttentionHeadView, NeuronView, live
from trainwarden.notebook.arrays_document import from_bytes
from trainwarden.notebook.bundle import bundle

pytest.importorskip("anywidget")
if bundle() is None:
    pytest.skip("the package was built without the page", allow_module_level=True)


class Frontend:
    """Asks through the widget's messages as the page's views do."""

    def __init__(self, widget: Any, monkeypatch: pytest.MonkeyPatch):
        self.widget = widget
        self.sent: list[tuple[dict[str, Any], list[bytes]]] = []
        monkeypatch.setattr(widget, "send", lambda message, buffers=None: self.sent.append((message, buffers or [])))

    def ask(self, address: str) -> tuple[dict[str, Any], list[bytes]]:
        self.widget._handle_custom_msg({"kind": "ask", "id": len(self.sent), "address": address}, [])
        return self.sent[-1]


def test_the_kernel_answers_what_the_view_asks(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    view = AttentionHeadView(write_run(run_dir), head=2, live=True)
    frontend = Frontend(view.widget, monkeypatch)
    run = view.widget.run["id"]
    message, (body,) = frontend.ask(f"/runs/{run}/attention/head?first=3&heads=2&item=1&layer=0&step=1")
    assert message == {"kind": "answer", "id": 0, "type": "arrays"}
    assert np.array_equal(from_bytes(body)["weights"], weights_at(0, 1)[1, 2:3, :3, :3])
    message, (body,) = frontend.ask(f"/runs/{run}/attention/steps")
    assert message["type"] == "json" and json.loads(body)["steps"] == [[0, 1, 3]]
    message, buffers = frontend.ask(f"/runs/{run}/attention/head?layer=9&step=1")
    assert (message["type"], message["code"], buffers) == ("error", "out of range", [])
    assert "layer" in message["message"]


def test_what_is_chosen_goes_both_ways() -> None:
    view = AttentionHeadView(TOKENS, scores(), step=0, head=1, live=True)
    assert view.widget.modes == ["head"] and view.widget.step == 0
    assert view.widget.params == {"mode": "head", "layer": "0", "heads": "1", "item": "0", "first": "20"}
    view.select_layer(SCORES[1])
    view.select_step(5)
    assert view.widget.params["layer"] == "1" and view.widget.step == 5
    view.widget.set_trait("params", {**view.widget.params, "heads": "2", "item": "1", "pins": "q1", "first": "3"})
    view.widget.set_trait("step", 1)
    assert (view.head, view.item, view.step, view.n_tokens) == (2, 1, 1, 3)
    assert np.array_equal(view.data()["weights"], scores()[SCORES[1]][1][1, 2, :3, :3])
    view.select_head(0)
    assert view.widget.params["pins"] == "q1"  # what Python does not know of stays


def test_the_query_of_a_neuron_view_goes_both_ways(run_dir: Path) -> None:
    view = NeuronView(write_run(run_dir), layer=1, query=2, live=True)
    assert view.widget.step is None and view.widget.params["query"] == "2"
    assert "neuron" in view.widget.modes and "model" in view.widget.modes
    view.widget.set_trait("params", {**view.widget.params, "query": "4"})
    assert view.query == 4


def test_news_of_the_run_reach_the_widget(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "_LOOK_EVERY_S", 0.01)
    writer = Writer(run_dir)
    writer.step()
    view = AttentionHeadView(run_dir, live=True)
    seen = view.widget.version
    writer.step()
    deadline = time.monotonic() + 30
    while view.widget.version == seen and time.monotonic() < deadline:
        time.sleep(0.01)
    assert view.widget.version > seen
    writer.close()


def test_a_process_that_ends_while_a_view_looks_for_news_ends_well(run_dir: Path) -> None:
    write_run(run_dir, steps=1)
    program = f"""
from trainwarden.notebook import AttentionHeadView, live
live._LOOK_EVERY_S = 0.0001
views = [AttentionHeadView({str(run_dir)!r}, live=True) for _ in range(8)]
"""
    for _ in range(3):
        subprocess.run([sys.executable, "-c", program], check=True)


def test_the_bundle_has_the_widget_and_a_picture_for_who_has_no_widgets() -> None:
    view = AttentionHeadView(TOKENS, scores(), step=0, live=True)
    bundled = view._repr_mimebundle_()
    assert {"application/vnd.jupyter.widget-view+json", "image/svg+xml", "text/plain"} == set(bundled)
    assert "head 0" in bundled["text/plain"]


def test_without_anywidget_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(FailedPrecondition, match=r'pip install "trainwarden\[notebook\]"'):
        AttentionHeadView(TOKENS, scores(), step=0, live=True)
