"""The programs under our package alone: which tensors at which steps, and that training is none the wiser."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hook_runs import Recorded, read_ours, record_ours, record_plain

NET = ["conv1", "conv2", "fc"]
MLP = ["fc1", "fc2"]


def parameters(root: str, layers: list[str], kinds: tuple[str, ...] = ("weight", "bias")) -> list[str]:
    return [f"{root}_{layer}.{kind}" for layer in layers for kind in kinds]


def gradients(root: str, layers: list[str]) -> list[str]:
    return [f"gradient/{name}" for name in parameters(root, layers)]


def calls(modules: str) -> list[str]:
    """ "fc loss:2-1": one input and one output of fc, two inputs and one output of loss."""
    names = []
    for word in modules.split():
        module, _, counts = word.partition(":")
        inputs, outputs = map(int, (counts or "1-1").split("-"))
        names += [f"{module}_input_{index}" for index in range(inputs)]
        names += [f"{module}_output_{index}" for index in range(outputs)]
    return names


LOSS = "CrossEntropyLoss_output_0"
NET_CALLS = calls("Net conv1 relu1 conv2 relu2 fc CrossEntropyLoss:2-1")
MLP_CALLS = calls("Mlp fc1 dropout fc2 CrossEntropyLoss:2-1")
EXPECTED: dict[str, list[tuple[list[str], list[int]]]] = {
    "parts": [([LOSS, *parameters("Net", NET), *gradients("Net", NET)], [0, 2, 4, 6])],
    "defaults": [([LOSS], [0])],
    "everything": [([*NET_CALLS, *parameters("Net", NET), *gradients("Net", NET)], [0, 3])],
    "schedule": [
        ([LOSS, *parameters("Net", NET, ("weight",))], [1, 6, 9, 11]),
        (parameters("Net", NET, ("bias",)), [2]),
    ],
    "patterns": [
        ([LOSS, *calls("conv1 relu1 relu2"), "conv2_output_0", "fc_input_0"], [0, 1, 2, 3]),
        (["Net_conv2.weight", "gradient/Net_conv2.weight"], [0, 2]),
    ],
    "all_with_patterns": [([LOSS, "relu1_output_0", *parameters("Net", NET), *gradients("Net", NET)], [0, 1])],
    "modes": [
        (gradients("Mlp", MLP), [0, 2, 8]),
        ([*parameters("Mlp", MLP), *calls("Mlp fc1 dropout fc2")], [0, 2, 3, 4, 5, 8, 10, 11]),
        (calls("CrossEntropyLoss:2-1"), [0, 2, 3, 4, 8, 10, 11]),
    ],
    "shared": [
        (calls("Shared frozen layer:2-2 nested:3-4 MSELoss:2-1"), [0, 1, 2]),
        (parameters("Shared", ["layer", "frozen"]) + gradients("Shared", ["layer"]), [0, 1, 2]),
        (["Shared_nested.scale", "gradient/Shared_nested.scale"], [0, 1, 2]),
    ],
    "recurrent": [
        (calls("Words embedding lstm:1-3 head CrossEntropyLoss:2-1"), [0, 2]),
        (["Words_embedding.weight", "gradient/Words_embedding.weight"], [0, 2]),
        (parameters("Words", ["head"]) + gradients("Words", ["head"]), [0, 2]),
        (
            [f"{prefix}Words_lstm.{kind}_{part}_l0" for prefix in ("", "gradient/") for kind in ("weight", "bias")
             for part in ("ih", "hh")],
            [0, 2],
        ),
    ],
    "functional_loss": [(["nll_loss_output_0"], [0, 1, 2])],
    "by_hand": [([LOSS, "labels", "numbers"], [0, 1, 2, 3]), (["scalar/accuracy", "scalar/loss"], [3])],
    "data_parallel": [
        (calls("DataParallel module module.fc1 module.dropout module.fc2 CrossEntropyLoss:2-1"), [0, 1]),
        (parameters("DataParallel_module.", MLP) + gradients("DataParallel_module.", MLP), [0, 1]),
    ],
    "two_models": [
        (parameters("Mlp", MLP, ("weight",)), [0, 2]),
        (["Linear_weight"], [1, 3]),
        ([LOSS, *gradients("Mlp", MLP), "gradient/Linear_weight", "gradient/Linear_bias"], [1, 3]),
    ],
    "reductions": [([LOSS, *parameters("Net", NET), *gradients("Net", NET)], [0, 2])],
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where all programs have run."""
    place = tmp_path_factory.mktemp("programs")
    digests = record_ours(place, *EXPECTED)
    assert digests == record_plain(place, *EXPECTED)
    return place


def names_with_dots(names: list[str]) -> list[str]:
    """Of parameters of "DataParallel_module." and "fc1": there is no second underscore."""
    return [name.replace("module._", "module.") for name in names]


@pytest.mark.parametrize("program", EXPECTED)
def test_which_tensors_are_recorded_at_which_steps(folder: Path, program: str) -> None:
    expected = {name: steps for names, steps in EXPECTED[program] for name in names_with_dots(names)}
    assert read_ours(folder / program).tensors == expected


@pytest.fixture(scope="module")
def shared(folder: Path) -> Recorded:
    return read_ours(folder / "shared")


def test_parameters_are_those_before_the_step_and_gradients_those_of_it(shared: Recorded) -> None:
    weights = [shared.values["Shared_layer.weight", step] for step in range(3)]
    momentum = np.zeros_like(weights[0])
    for step in range(2):
        momentum = 0.9 * momentum + shared.values["gradient/Shared_layer.weight", step]
        np.testing.assert_allclose(weights[step + 1], weights[step] - 0.1 * momentum, rtol=1e-5, atol=1e-7)


def test_calls_of_a_module_are_numbered(shared: Recorded) -> None:
    weight, bias = (shared.values[f"Shared_layer.{kind}", 1] for kind in ("weight", "bias"))
    assert np.array_equal(shared.values["layer_input_1", 1], shared.values["layer_output_0", 1])
    expected = shared.values["layer_output_0", 1] @ weight.T + bias
    np.testing.assert_allclose(shared.values["layer_output_1", 1], expected, rtol=1e-5, atol=1e-6)
    types = [str(shared.values[f"nested_output_{index}", 0].dtype) for index in range(4)]
    assert types == ["float32", "bool", "int64", "float64"]


def test_modes_are_recorded(folder: Path) -> None:
    assert read_ours(folder / "modes").steps == [
        (0, "TRAIN", 0), (2, "TRAIN", 2), (3, "EVAL", 0), (4, "EVAL", 1), (5, "PREDICT", 0),
        (8, "TRAIN", 4), (10, "EVAL", 2), (11, "EVAL", 3),
    ]  # fmt: skip


def test_collections_hold_their_tensors(folder: Path) -> None:
    collections = read_ours(folder / "patterns").collections
    assert collections["convolutions"] == ["conv1_input_0", "conv1_output_0", "conv2_output_0"]
    assert collections["added"] == ["Net_conv2.weight", "gradient/Net_conv2.weight"]
    assert collections["default"] == ["fc_input_0", *calls("relu1"), *calls("relu2")]


def test_reductions_are_those_of_the_value(folder: Path) -> None:
    recorded = read_ours(folder / "reductions")
    value = recorded.values["Net_fc.weight", 2].astype(float)
    saved = recorded.reductions["Net_fc.weight", 2]
    expected = {
        ("min", False): value.min(), ("max", True): np.abs(value).max(), ("mean", False): value.mean(),
        ("variance", False): value.var(), ("std", True): np.abs(value).std(), ("l1", False): np.abs(value).sum(),
        ("l2", True): np.sqrt((value**2).sum()),
    }  # fmt: skip
    assert {key: saved[key] for key in expected} == pytest.approx(expected, rel=1e-9)
    assert ("gradient/Net_fc.weight", 2) not in recorded.values
    asked_for = {("prod", False), ("mean", False), ("l2", False), ("prod", True)}
    assert set(recorded.reductions["Net_fc.bias", 2]) == asked_for
