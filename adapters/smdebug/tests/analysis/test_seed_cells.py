"""Two published notebooks: their cells run as they are, with only the path of the run another one."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest
import trainwarden
from smdebug import modes
from smdebug.trials import create_trial

from trainwarden.notebook import NeuronView

from bert_notebook import Bert, offer_views
from notebook import Cloud, Notebook, Plots, Widgets, cells_of, document, put_in_place, python_block_of

SCRIPTS = Path(__file__).parent / "scripts"


class Training:
    """A training in another process, which goes on for a while whenever the notebook sleeps."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.naps = 0
        self._process: subprocess.Popen[str] | None = None

    def start(self, collection: dict[str, Any]) -> None:
        command = [sys.executable, str(SCRIPTS / "conv_training.py"), str(self.folder), json.dumps(collection)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def sleep(self, seconds: float) -> None:
        self.naps += 1
        if self._process is not None and self._process.poll() is None:
            stdin, stdout = _both(self._process.stdin), _both(self._process.stdout)
            stdin.write("go on\n")
            stdin.flush()
            if stdout.readline() == "ended\n":
                self._process.communicate()

    def end(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.communicate()


def _both(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


@pytest.fixture
def training(run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Training]:
    training = Training(run_dir)
    monkeypatch.setattr(time, "sleep", training.sleep)
    yield training
    training.end()


def test_realtime_tensor_analysis(
    seeds: Path,
    training: Training,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    cloud, plots = Cloud(str(training.folder)), Plots()
    put_in_place(cloud.modules() | plots.modules(monkeypatch.setattr), monkeypatch.setitem)
    cells = cells_of(document(seeds, "001"))
    install, configure, estimate, fit, status, helpers, create, names, follow, weights = cells
    notebook = Notebook()

    notebook.run_all([install, configure, estimate])
    (collection,) = cloud.collections()
    assert collection == {
        "CollectionName": "conv0_tensors",
        "CollectionParameters": {"include_regex": "conv0.*", "save_interval": "100"},
    }
    notebook.run(fit)
    cloud.estimator.return_value.fit.assert_called_once_with(wait=False)
    training.start(collection)
    notebook.run_all([status, helpers, create])  # waits until the training has begun

    assert notebook.run(names) == [
        "conv0_bias",
        "conv0_input_0",
        "conv0_output_0",
        "conv0_relu_input_0",
        "conv0_relu_output_0",
        "conv0_weight",
        "gradient/conv0_bias",
        "gradient/conv0_weight",
    ]

    notebook.run(follow)
    shown = [(int(title), image) for figure in plots.shown for title, image in figure]
    assert sorted(step for step, _ in shown) == [0, 100, 200, 300, 400]  # each once
    assert len(plots.shown) > 2  # while the training ran
    assert all(image.shape == (5, 5) and (image == step).all() for step, image in shown)
    assert sorted(notebook.names["rendered_steps"]) == notebook.names["trial"].steps() == [0, 100, 200, 300, 400]
    assert notebook.names["trial"].loaded_all_steps
    assert capsys.readouterr().out.count("\nDone\n") == 2

    plots.shown.clear()
    notebook.run(weights)
    assert [[title for title, _ in figure] for figure in plots.shown] == [["0", "100", "200", "300", "400"]] * 3
    for kernel, figure in enumerate(plots.shown):
        for title, image in figure:
            assert np.allclose(image, kernel + int(title) / 1000) and image.shape == (2, 2)


def test_weights_of_a_run_that_rules_judge(seeds: Path, run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the rules need, statistics at each tenth step, lies between what the configuration saves."""
    saved = trainwarden.Collection("conv0_tensors", include=("conv0.*",), save=100)
    needed = trainwarden.Collection("needed", include=("conv0.*",), save=10, keep="statistics")
    with trainwarden.Hook(run_dir, collections=[saved, needed]) as hook:
        hook.set_mode("train")
        for step in range(301):
            hook.save_tensor("conv0_weight", np.full((3, 1, 2, 2), step / 1000, np.float32))
            hook.step()

    plots = Plots()
    put_in_place(plots.modules(monkeypatch.setattr), monkeypatch.setitem)
    helpers, weights = (cells_of(document(seeds, "001"))[index] for index in (5, -1))
    trial = create_trial(run_dir)
    Notebook({"modes": modes, "trial": trial}).run_all([helpers, weights])
    assert len(trial.steps()) == 31
    assert [[title for title, _ in figure] for figure in plots.shown] == [["0", "100", "200", "300"]] * 3


class Finetuning:
    """BERT's epochs: a training step and two validation steps in each. It goes on whenever the notebook sleeps."""

    EPOCHS = 3

    def __init__(self, folder: Path, seed_lines: str):
        self.folder = folder
        self.seed_lines = compile(seed_lines, "<lines for the validation loop>", "exec")
        self.tokens = [f"token{number}" for number in range(11)]
        self._epochs: Iterator[int] | None = None

    def start(self, collections: list[dict[str, Any]]) -> None:
        config = self.folder.with_suffix(".json")
        document = {"S3Path": "s3://bucket/smdebug-output", "LocalPath": str(self.folder)}
        config.write_text(json.dumps({**document, "CollectionConfigurations": collections}))
        self._epochs = self._train(config)

    def sleep(self, seconds: float) -> None:
        self.epoch()

    def epoch(self) -> None:
        if self._epochs is not None:
            next(self._epochs, None)

    def _train(self, config: Path) -> Iterator[int]:
        import torch
        from attention_model import WORDS, Bert

        import smdebug.pytorch as smd
        from smdebug import modes

        torch.manual_seed(0)
        hook = smd.Hook.create_from_json_file(str(config))
        model = Bert()
        hook.register_hook(model)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        names = {"hook": hook, "modes": modes, "input_tokens": np.array(self.tokens)}
        for epoch in range(self.EPOCHS):
            hook.set_mode(modes.TRAIN)
            optimizer.zero_grad()
            model(torch.randint(0, 30, (4, WORDS))).square().mean().backward()
            optimizer.step()
            hook.set_mode(modes.EVAL)
            with torch.no_grad():
                for _ in range(2):
                    model(torch.randint(0, 30, (4, WORDS)))
                    exec(self.seed_lines, names)
            hook._recording.core.flush()  # the notebook slept for 15 s in the meantime: the writer was done long ago
            yield epoch
        hook.close()


@pytest.fixture
def bert(seeds: Path, run_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Bert:
    pytest.importorskip("torch")
    monkeypatch.syspath_prepend(str(SCRIPTS))
    cloud = Cloud(str(run_dir))
    put_in_place(cloud.modules(), monkeypatch.setitem)
    text = document(seeds, "000")
    finetuning = Finetuning(run_dir, python_block_of(text, "_write_raw_tensor_simple"))
    monkeypatch.setattr(time, "sleep", finetuning.sleep)
    return Bert(Notebook(), cells_of(text), finetuning, cloud)


def test_bert_attention(
    bert: Bert, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the cells hand over to the helpers."""
    widgets = Widgets()
    put_in_place(widgets.modules(), monkeypatch.setitem)
    seen = bert.run()
    assert [collection["CollectionName"] for collection in bert.cloud.collections()] == ["all"]
    names, finetuning = bert.notebook.names, bert.finetuning
    trial, modes = names["trial"], names["modes"]

    scores = [f"bertencoder0_transformer{layer}_multiheadattentioncell0_output_1" for layer in range(2)]
    assert names["tensor_names"] == scores and names["num_heads"] == 2
    assert trial.steps(modes.EVAL) == [0, 1, 2, 3, 4, 5] and trial.steps(modes.TRAIN) == [0]
    assert 0 < len(seen) < 6 and set(names["new_steps"]) == set(range(6)) - set(seen)
    for by_step in names["tensors"].values():
        assert sorted(by_step) == [0, 1, 2, 3, 4, 5]
        for value in by_step.values():  # scores of the words that a word looks at
            assert value.shape == (4, 2, 11, 11) and np.allclose(value.sum(axis=3), 1, atol=1e-5)

    assert names["input_tokens"].tolist() == finetuning.tokens
    cell = "bertencoder0_transformer{}_multiheadattentioncell0_{}_output_0"
    assert names["layers"] == [[cell.format(layer, "key"), cell.format(layer, "query")] for layer in range(2)]
    assert names["layer_names"] == {"transformer0": 0, "transformer1": 1}
    for part in ("queries", "keys"):
        for name, by_step in names[part].items():
            assert sorted(by_step) == [0, 1, 2, 3, 4, 5]
            for step, value in by_step.items():
                raw = trial.tensor(name).value(step, modes.EVAL)
                assert value.shape == (4, 2, 11, 4)  # batch, heads, words, size of a head
                assert np.array_equal(value.transpose(0, 2, 1, 3).reshape(raw.shape), raw)

    (attention,) = widgets.attention_head_view.AttentionHeadView.call_args_list
    assert attention.args[0].tolist() == finetuning.tokens and attention.args[1] is names["tensors"]
    assert attention.kwargs == {"step": 0, "layer": scores[0], "n_tokens": 20}
    (neuron,) = widgets.neuron_view.NeuronView.call_args_list
    assert neuron.kwargs["step"] == 0 and neuron.kwargs["layer_names"] is names["layer_names"]
    assert set(neuron.kwargs["queries"]) == {query for _, query in names["layers"]}
    assert widgets.interactive.call_count == 6
    assert "Reading tensors from step 5" in capsys.readouterr().out


def test_bert_attention_with_our_views(bert: Bert, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cells as they are, with our views in the place of the helpers: nothing but ipywidgets is a double."""
    selecting = offer_views(len(bert.finetuning.tokens), monkeypatch)
    bert.run()

    names, selected = bert.notebook.names, dict(selecting.chosen)
    assert [name for name, _ in selecting.chosen] == [
        "select_layer", "select_head", "select_step", "select_query", "select_layer", "select_step",
    ]  # fmt: skip
    assert selected["select_query"] == list(range(20))
    assert isinstance(names["view"], NeuronView)
    shown = names["view"].data()  # the last of each that was chosen
    assert (shown["layer"], shown["step"], names["view"].query) == ("transformer1", 5, 10)
    assert names["view"].data()["keys"] == bert.finetuning.tokens
    query = names["queries"][names["layers"][1][1]][5][0, 0, 10]
    assert np.array_equal(shown["query"], query)
    attention = names["tensors"][names["tensor_names"][1]][5][0, 0, 10]
    assert np.allclose(shown["softmax"], attention, atol=1e-5)  # what the model itself computed
