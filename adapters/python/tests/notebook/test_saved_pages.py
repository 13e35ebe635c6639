"""Pages that hold a view with its numbers: what is in them, how large they may be, and what a browser makes of them."""

from __future__ import annotations

import base64
import html
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from attention_arrays import HEADS, KEYS, QUERIES, SCORES, TOKENS, scores, vectors
from attention_runs import by_head, tokens_at, vectors_at, weights_at, write_run
from browser import Browser

from trainwarden.errors import ResourceExhausted
from trainwarden.notebook import AttentionHeadView, NeuronView, attention_view
from trainwarden.notebook.arrays_document import Arrays, from_bytes
from trainwarden.notebook.bundle import bundle

if bundle() is None:
    pytest.skip("the package was built without the page", allow_module_level=True)


def held_in(page: str) -> tuple[dict[str, Any], Arrays]:
    (words,) = re.findall(r'<script type="application/json" id="held">(.*?)</script>', page, re.DOTALL)
    (numbers,) = re.findall(r'<script type="text/plain" id="numbers">(.*?)</script>', page, re.DOTALL)
    return json.loads(words), from_bytes(base64.b64decode(numbers))


def drawn_by_chromium(page: Path, *signs: str) -> str:
    """The document once its script has drawn all `signs`, without scripts: a pane is drawn before what it shows."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no Chromium to open the page in")

    def without_scripts(document: str) -> str:
        return re.sub(r"<script.*?</script>", "", document, flags=re.DOTALL)

    with Browser(chromium, page.parent / "profile") as browser:
        document = browser.document_when(page.as_uri(), lambda now: all(sign in without_scripts(now) for sign in signs))
    return without_scripts(document)


def test_a_page_holds_all_layers_and_steps_bit_by_bit(run_dir: Path, tmp_path: Path) -> None:
    view = AttentionHeadView(write_run(run_dir), layer=1, head=2, item=1, n_tokens=4)
    view.to_html(tmp_path / "head.html")
    held, numbers = held_in((tmp_path / "head.html").read_text())
    archive = held["archive"]
    assert archive["item"] == 1 and archive["steps"]["steps"] == [[0, 1, 1], [1, 1, 1], [2, 1, 1]]
    assert set(numbers.arrays) == {f"weights/{layer}/{step}" for layer in range(2) for step in range(3)}
    for step in range(3):
        assert np.array_equal(numbers[f"weights/0/{step}"], weights_at(0, step)[1, :, :4, :4])
        assert json.loads(archive["words"][f"0/{step}"]["tokens_query"])[:4] == tokens_at(step)[1, :4].tolist()
    params = {"mode": "head", "layer": "1", "heads": "2", "item": "1", "first": "4"}
    assert held["state"] == {"step": 2, "params": params}


def test_a_page_of_neurons_holds_queries_keys_and_softmax(run_dir: Path, tmp_path: Path) -> None:
    NeuronView(write_run(run_dir), layer=1, n_tokens=4).to_html(tmp_path / "neuron.html")
    _, numbers = held_in((tmp_path / "neuron.html").read_text())
    for part in ("query", "key"):
        assert np.array_equal(numbers[f"{part}/1/2"], by_head(vectors_at(part, 1, 2))[0, :, :4])
    assert np.allclose(numbers["softmax/1/2"], weights_at(1, 2)[0, :, :4, :4], atol=1e-6)  # over all six keys


def test_what_is_displayed_holds_what_is_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention_view, "_MOST_DISPLAYED", 2 * HEADS * 4 * 4 * 4)  # bytes of two moments
    view = AttentionHeadView(TOKENS, scores(), step=1, layer=SCORES[1], n_tokens=4)
    page = view.html()
    assert page is not None
    assert set(held_in(page)[1].arrays) == {"weights/1/1", "weights/0/1"}


def test_pages_have_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    view = AttentionHeadView(TOKENS, scores(), step=0)
    monkeypatch.setattr(attention_view, "_WARNED_MB", 0.05)
    with pytest.warns(UserWarning, match="fewer tokens make it smaller"):
        view.to_html(tmp_path / "head.html")
    monkeypatch.setattr(attention_view, "_REFUSED_MB", 0.05)
    with pytest.raises(ResourceExhausted, match="show fewer tokens than 20"):
        view.to_html(tmp_path / "other.html")
    assert not (tmp_path / "other.html").exists()


def test_nothing_in_a_page_comes_from_elsewhere_or_ends_its_scripts(tmp_path: Path) -> None:
    hostile = np.full(TOKENS.shape, "</script><script>alert(1)</script><!--")
    AttentionHeadView(hostile, {"</style><img src=x onerror=alert(1)>": scores()[SCORES[0]]}, step=0).to_html(
        tmp_path / "head.html"
    )
    page = (tmp_path / "head.html").read_text()
    assert page.count("<script") == page.count("</script") == 3
    assert "alert(1)</script>" not in page and "<img src=x" not in page
    assert "default-src 'none'" in html.unescape(page)


def test_the_frame_may_reach_nothing() -> None:
    shown = AttentionHeadView(TOKENS, scores(), step=0)._repr_mimebundle_()["text/html"]
    assert 'sandbox="allow-scripts"' in shown and shown.count("<iframe") == 1
    (inside,) = re.findall(r'srcdoc="([^"]*)"', shown)
    assert html.unescape(inside) == AttentionHeadView(TOKENS, scores(), step=0).html()


def test_chromium_draws_the_head_view_from_the_page_alone(run_dir: Path, tmp_path: Path) -> None:
    view = AttentionHeadView(write_run(run_dir), layer=1, head=1, step=1)
    view.to_html(tmp_path / "head.html")
    tokens = tokens_at(1)[0].tolist()
    document = drawn_by_chromium(tmp_path / "head.html", 'data-pane="head"', *tokens)
    assert 'class="tw-steps"' in document and 'data-pane="head"' in document and "<svg xmlns" not in document
    assert [token for token in tokens if token not in document] == [] and "s2.i0.0" not in document


def test_chromium_finds_that_the_sums_hold(tmp_path: Path) -> None:
    keys, queries = vectors(KEYS, seed=1), vectors(QUERIES, seed=2)
    layers = [[key, query] for key, query in zip(KEYS, QUERIES)]
    view = NeuronView(TOKENS, keys=keys, queries=queries, layers=layers, step=5, query=2)
    view.to_html(tmp_path / "neuron.html")
    document = drawn_by_chromium(tmp_path / "neuron.html", 'data-invariant="dot"', 'data-invariant="softmax"')
    assert 'data-pane="neuron"' in document and 'data-step="5"' in document
    marks = re.findall(r'data-invariant="(\w+)">([^<]*)<', document)  # the page works the sums out itself
    assert {"dot", "softmax"} <= {name for name, _ in marks}
    assert all("\u2713" in words for _, words in marks), marks
