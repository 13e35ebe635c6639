"""The functions of torch.nn.functional, with calls of ours in them, are torch's own to whoever looks."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

_BEFORE = {name: getattr(F, name) for name in ("mse_loss", "cross_entropy", "relu", "softmax")}
_SIGNATURES = {name: inspect.signature(function) for name, function in _BEFORE.items()}
_SOURCES = {name: inspect.getsource(function) for name, function in _BEFORE.items()}


@pytest.fixture(autouse=True, scope="module")
def switched_on() -> None:
    from trainwarden.torch import interception

    interception.switch_on()
    assert "_trainwarden_relu" in vars(F)


@pytest.mark.parametrize("name", sorted(_BEFORE))
def test_the_function_is_the_same(name: str) -> None:
    function: Any = getattr(F, name)
    assert function is _BEFORE[name]
    assert pickle.loads(pickle.dumps(function)) is function
    assert inspect.signature(function) == _SIGNATURES[name]
    assert inspect.getsource(function) == _SOURCES[name]
    assert (function.__name__, function.__module__) == (name, "torch.nn.functional")


def test_wrong_arguments() -> None:
    with pytest.raises(TypeError, match=r"^mse_loss\(\) missing 1 required positional argument: 'target'$"):
        F.mse_loss(torch.ones(2))
    with pytest.raises(IndexError, match="out of bounds"):
        F.cross_entropy(torch.ones(2, 3), torch.tensor([0, 7]))


class Net(nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.mse_loss(F.relu(x), y) + F.cross_entropy(F.softmax(x, dim=1), y.argmax(1))


def test_torch_compiles_its_own_text() -> None:
    net, x, y = Net(), torch.randn(4, 3), torch.rand(4, 3)
    expected = net(x, y)
    assert torch.equal(torch.jit.script(net)(x, y), expected)
    assert torch.equal(torch.jit.trace(net, (x, y))(x, y), expected)
    traced = torch.fx.symbolic_trace(net)
    assert "torch.nn.functional.relu(x, inplace = False)" in traced.code
    assert torch.equal(traced(x, y), expected)


def test_a_transformer_is_pickled() -> None:
    layer = nn.TransformerEncoderLayer(4, 1)  # keeps F.relu, which was its default argument before ours came
    assert layer.activation is F.relu
    assert pickle.loads(pickle.dumps(layer)).activation is F.relu
