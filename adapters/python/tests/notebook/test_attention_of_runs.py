"""The views of attention of a run: what the page's server answers, without a server."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from attention_runs import HEADS, LAYER, LENGTH, SIZE, Writer, by_head, tokens_at, vectors_at, weights_at, write_run

import trainwarden
from trainwarden.errors import InvalidArgument, NotFound, OutOfRange
from trainwarden.notebook import AttentionHeadView, NeuronView
from trainwarden.notebook.run_answers import answers_of


@pytest.fixture
def run(run_dir: Path) -> trainwarden.Trial:
    return write_run(run_dir)


def test_captured_weights_are_shown_bit_by_bit(run: trainwarden.Trial) -> None:
    view = AttentionHeadView(run, layer=0, head=1, n_tokens=4)
    assert view.layers == [LAYER.format(0), LAYER.format(1)] and view.heads == HEADS and view.steps == [0, 1, 2]
    shown = view.data()
    assert np.array_equal(shown["weights"], weights_at(0, 2)[0, 1, :4, :4])
    assert shown["queries"] == shown["keys"] == tokens_at(2)[0, :4].tolist()
    assert "(eval 2)" in view.text() and "recomputed" not in view.text()


def test_weights_are_recomputed_from_queries_and_keys(run: trainwarden.Trial) -> None:
    view = AttentionHeadView(run, layer=LAYER.format(1), head=2, item=1, n_tokens=LENGTH)
    assert np.allclose(view.data()["weights"], weights_at(1, 2)[1, 2], atol=1e-6)
    assert "weights recomputed from queries and keys" in view.text()


def test_tokens_belong_to_the_step_and_item_that_are_shown(run: trainwarden.Trial) -> None:
    view = NeuronView(run, layer=1)
    for step in (0, 2, 1):
        for item in (1, 0):
            view.select_step(step)
            view.select_item(item)
            assert view.data()["keys"] == tokens_at(step)[item].tolist()


def test_the_neuron_view_of_a_run_holds_its_sums(run: trainwarden.Trial) -> None:
    view = NeuronView(run, layer=1, head=2, query=4, step=1)
    shown = view.data()
    query, key = (by_head(vectors_at(part, 1, 1))[0, 2] for part in ("query", "key"))
    assert np.array_equal(shown["query"], query[4]) and np.array_equal(shown["key"], key)
    assert np.array_equal(shown["product"], query[4] * key)
    assert np.allclose(shown["product"].sum(axis=1), shown["dot"], atol=1e-6)
    assert np.allclose(shown["scaled"], shown["dot"] / np.sqrt(SIZE), atol=1e-6)
    assert np.allclose(shown["softmax"], weights_at(1, 1)[0, 2, 4], atol=1e-6)


def test_whoever_opened_the_run_and_its_path_are_the_same(run: trainwarden.Trial) -> None:
    smdebug = pytest.importorskip("smdebug.trials")
    views = [AttentionHeadView(source) for source in (run, run.path, smdebug.create_trial(run.path))]
    assert len({view.svg() for view in views}) == 1


def test_a_step_without_attention_shows_the_one_before(run: trainwarden.Trial) -> None:
    view = AttentionHeadView(run, step=1)
    view.select_step(99)
    assert view.step == 2


def test_a_running_run_is_followed(run_dir: Path) -> None:
    writer = Writer(run_dir)
    writer.step()
    follows, stays = AttentionHeadView(run_dir), AttentionHeadView(run_dir, step=0)
    writer.step()
    follows.refresh()
    stays.refresh()
    assert (follows.step, stays.step) == (1, 0)
    assert follows.data()["queries"][0] == "s1.i0.0"
    writer.close()


def test_linked_views_show_the_same_place(run: trainwarden.Trial) -> None:
    head, neuron = AttentionHeadView(run), NeuronView(run, query=3)
    head.link(neuron)
    head.select_step(1)
    head.select_head(2)
    neuron.select_layer(1)
    neuron.select_query(4)
    assert (neuron.step, neuron.head) == (1, 2) and head.layer == 1
    assert np.allclose(head.data()["weights"][4], neuron.data()["softmax"], atol=1e-6)


def test_vectors_for_saved_pages_are_those_of_the_run(run: trainwarden.Trial) -> None:
    answers = answers_of(run)
    layer = answers.json("/attention")["layers"][1]
    found = answers.vectors(layer, 2, 1)
    assert found is not None
    for part, vectors in zip(("query", "key"), found):
        assert np.array_equal(vectors, by_head(vectors_at(part, 1, 2))[1])


def test_what_is_not_there_is_said(run: trainwarden.Trial, tmp_path: Path) -> None:
    with pytest.raises(OutOfRange, match="expected a layer from 0 to 1, got 2"):
        AttentionHeadView(run, layer=2)
    with pytest.raises(FileNotFoundError):
        AttentionHeadView(tmp_path / "none")
    with pytest.raises(InvalidArgument, match="expected a trial or the path of a run, got list"):
        AttentionHeadView([1])
    answers = answers_of(run)
    with pytest.raises(NotFound, match="no address"):
        answers.ask(answers.address("/nonsense"))
    with pytest.raises(NotFound):
        answers.ask("/runs/0123456789abcdef/attention")
    with pytest.raises(trainwarden.Error, match="GET and POST"):  # what acts on a training is not offered
        answers.ask(answers.address("/stop"))


def test_a_run_whose_heads_nobody_can_tell_says_what_to_do(run_dir: Path) -> None:
    with trainwarden.Hook(run_dir, include_collections=["outputs"], save=1) as hook:
        for part in ("query", "key"):
            hook.save_tensor(f"{LAYER.format(0)}.{part}_output_0", vectors_at(part, 0, 0))
        hook.step()
    with pytest.raises(InvalidArgument, match="expected a layer whose heads are known: .*num_attention_heads"):
        AttentionHeadView(run_dir)


def test_a_run_without_attention_says_so(run_dir: Path) -> None:
    with trainwarden.Hook(run_dir, save=1) as hook:
        hook.save_scalar("loss", 1.0)
        hook.step()
    with pytest.raises(NotFound, match="expected a run with attention"):
        AttentionHeadView(run_dir)
