"""The faults of the helpers that the published notebook on BERT's attention came with: none of them is here."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from attention_arrays import KEYS, LENGTH, QUERIES, SCORES, SIZE, STEPS, TOKENS, scores, vectors
from pictures import Picture

from trainwarden.notebook import AttentionHeadView, NeuronView
from trainwarden.notebook.colours import signed_colours


def head_view(tokens: Any = TOKENS, **options: Any) -> AttentionHeadView:
    return AttentionHeadView(tokens, scores(), **{"step": 0, "layer": SCORES[0], "n_tokens": 4, **options})


def neuron_view(tokens: Any = TOKENS, **options: Any) -> NeuronView:
    keys, queries = vectors(KEYS, seed=1), vectors(QUERIES, seed=2)
    layers = [[key, query] for key, query in zip(KEYS, QUERIES)]
    names = {"transformer0": 0, "transformer1": 1}
    return NeuronView(tokens, keys=keys, queries=queries, layers=layers, step=0, layer_names=names, **options)


def widths(view: AttentionHeadView) -> dict[tuple[float, float], float]:
    """The width of each line, by the heights of its ends."""
    lines = Picture(view.svg()).lines()
    return {(float(each["y1"]), float(each["y2"])): float(each["stroke-width"]) for each in lines}


# 1. The first drawing had lines of half the width of all later ones.


def test_a_line_is_as_wide_when_drawn_first_as_later() -> None:
    view = head_view()
    first = widths(view)
    view.select_head(1)
    other = widths(view)
    view.select_head(0)
    assert widths(view) == first != other


def test_the_width_is_the_weight() -> None:
    view = head_view(head=2, item=1)
    expected = scores()[SCORES[0]][0][1, 2, :4, :4]
    found = widths(view)
    assert len(found) == 16
    rows = sorted({start for start, _ in found})
    for query, start in enumerate(rows):
        for key, end in enumerate(rows):
            assert found[start, end] == pytest.approx(6 * expected[query, key], abs=0.005)


# 2. After the first selection the sums were of another query than the products beside them.


@pytest.mark.parametrize("query", range(LENGTH))
def test_the_sums_are_of_the_query_that_is_shown(query: int) -> None:
    view = neuron_view(n_tokens=4)
    view.select_query(query)
    shown = view.data()
    q, k = vectors(QUERIES, seed=2)[QUERIES[0]][0][0, 0, query], vectors(KEYS, seed=1)[KEYS[0]][0][0, 0]
    assert np.array_equal(shown["query"], q) and np.array_equal(shown["key"], k[:4])
    assert np.array_equal(shown["product"], q * k[:4])
    assert np.allclose(shown["product"].sum(axis=1), shown["dot"], rtol=1e-6, atol=1e-6)
    assert np.allclose(shown["dot"], k[:4] @ q, rtol=1e-6, atol=1e-6)


def test_the_numbers_beside_the_products_are_their_sums() -> None:
    view = neuron_view(n_tokens=4)
    view.select_query(3)
    picture, sums = Picture(view.svg()), view.data()["dot"]
    images = {image.note: image for image in picture.images()}
    height = images["query x key"].height / 4
    for row, value in enumerate(sums):
        middle = images["query x key"].y + height * (row + 0.5)
        assert f"{value:.4g}" in [text for text, _, y in picture.middles() if y == pytest.approx(middle)]


# 3. The keys' rows ran from the bottom, their labels from the top.


def test_each_row_of_keys_stands_beside_its_label() -> None:
    view = neuron_view(n_tokens=4)
    picture, shown = Picture(view.svg()), view.data()
    images = {image.note: image for image in picture.images()}
    for name, values in (("keys", shown["key"]), ("query x key", shown["product"])):
        image = images[name]
        limit = np.abs(values).max() if name != "keys" else max(np.abs(values).max(), np.abs(shown["query"]).max())
        assert np.array_equal(image.pixels, signed_colours(values, limit))
        for row, label in enumerate(TOKENS[0, :4]):
            middle = image.y + image.height / 4 * (row + 0.5)
            assert label in [text for text, _, y in picture.middles() if y == pytest.approx(middle)]


# 4. Signs were not seen, and nothing led from the sums to the weights of the other view.


def test_signs_are_colours_and_zero_is_none() -> None:
    blue, white, orange = signed_colours(np.array([-1.0, 0.0, 1.0]), 1.0).astype(int)
    assert orange[0] > orange[2] + 80 and blue[2] > blue[0] + 80 and white.min() > 235
    assert signed_colours(np.array([np.nan, np.inf]), 1.0).tolist() == [[204, 47, 180]] * 2


def test_the_neuron_view_ends_in_the_weights_of_the_head_view() -> None:
    shown = neuron_view(n_tokens=LENGTH).data()
    assert shown["scale"] == 1 / math.sqrt(SIZE)
    assert np.allclose(shown["scaled"], shown["dot"] / math.sqrt(SIZE))
    powers = np.exp(shown["scaled"].astype(np.float64))
    assert np.allclose(shown["softmax"], powers / powers.sum()) and shown["softmax"].sum() == pytest.approx(1)


def test_softmax_is_over_all_keys_and_cut_afterwards() -> None:
    whole, cut = neuron_view(n_tokens=LENGTH).data(), neuron_view(n_tokens=3).data()
    assert np.array_equal(cut["softmax"], whole["softmax"][:3]) and cut["softmax"].sum() < 0.999


# 5. A glyph for each pair of tokens.


def test_a_long_text_is_drawn_with_few_lines_and_says_so() -> None:
    random = np.random.default_rng(0)
    weights = random.random((1, 1, 128, 128)).astype(np.float32)
    view = AttentionHeadView([str(n) for n in range(128)], {"layer": {0: weights}}, step=0, n_tokens=128)
    picture = Picture(view.svg())
    assert len(picture.lines()) == 2000
    assert any("the 2000 strongest of" in text for text in picture.texts())
    narrowest = min(float(line["stroke-width"]) for line in picture.lines()) / 6
    assert narrowest == pytest.approx(np.sort(weights.ravel())[-2000], abs=0.001)


# 6. All steps and all items had the tokens of the first step's first item.


def test_tokens_are_those_of_the_item_that_is_shown() -> None:
    view = head_view()
    assert view.data()["queries"] == TOKENS[0, :4].tolist()
    view.select_item(1)
    assert view.data()["queries"] == view.data()["keys"] == TOKENS[1, :4].tolist()


def test_tokens_are_those_of_the_step_that_is_shown() -> None:
    by_step = {step: np.char.add(f"s{step}.", TOKENS) for step in STEPS if step != 5}
    view = head_view(by_step)
    view.select_step(1)
    assert view.data()["queries"][0] == "s1.t0.0"
    view.select_step(5)
    assert view.data()["queries"] == ["0", "1", "2", "3"]
    assert "no labels: tokens were given for the steps 0, 1, not for step 5" in view.text()


def test_one_set_of_tokens_for_all_steps_is_said_to_be_one() -> None:
    assert "one set of tokens was given for all steps" in head_view().text()


@pytest.mark.parametrize("count", [LENGTH - 1, LENGTH + 1, 2 * LENGTH - 1, 3 * LENGTH])
def test_tokens_that_do_not_fit_are_no_labels(count: int) -> None:
    view = head_view([f"token{number}" for number in range(count)])
    assert view.data()["queries"] == ["0", "1", "2", "3"]
    assert f"no labels: {count} tokens do not fit 2 batch items of {LENGTH} positions" in view.text()


def test_texts_one_after_another_are_taken_apart_at_their_marks() -> None:
    """As the published training script wrote them: all items of the batch in one list, each as long as it is."""
    flat = ["[CLS]", "a", "b", "[SEP]", "[CLS]", "c", "[SEP]"]
    assert head_view(flat, n_tokens=6).data()["queries"] == ["[CLS]", "a", "b", "[SEP]", "", ""]
    assert head_view(flat, item=1).data()["queries"] == ["[CLS]", "c", "[SEP]", ""]


def test_tokens_of_other_lengths_are_not_split_in_the_middle() -> None:
    """As many as all items have positions, but not LENGTH each."""
    flat = ["[CLS]", "a", "b", "c", "[CLS]", "d", "e", "f", "g", "h", "i", "[SEP]"]
    assert head_view(flat).data()["queries"] == ["0", "1", "2", "3"]
