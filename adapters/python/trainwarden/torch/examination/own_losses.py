"""Own losses: what a loss that the program computes itself compares, read from its graph.

`((model(x) - y) ** 2).mean()` calls no loss function. Its graph keeps the differences, and the model's output is known:
so the targets are, too. The same holds for `-log_softmax(model(x))[range(n), y].mean()`.
"""

from __future__ import annotations

import math
from typing import Any, Iterator, Optional

import torch

from .batches import Compared
from .numbers import is_measurable

# Between a loss and its differences.
_SCALINGS = ("Mean", "Sum", "Div", "Mul", "Neg", "Add", "Sqrt", "View", "Squeeze", "Unsqueeze", "Reshape", "ToCopy",
             "Clone", "Alias", "Unsafe")  # fmt: skip
# Between an output of the model and what is compared.
_VIEWS = ("View", "Squeeze", "Unsqueeze", "Reshape", "Unsafe", "Alias", "Clone", "ToCopy", "Select", "Slice", "T")
# Rounding may take this share of a target's size.
_LOST = 0.01
_MAX_NODES = 24
_MARK = "trainwarden.output"
_MAX_OUTPUT_BYTES = 16 << 20
_MAX_VIEWS = 4


def mark_output(output: torch.Tensor) -> None:
    """A model has given this. Its graph remembers it, and with it goes what is remembered."""
    node = output.grad_fn
    if node is not None and is_measurable(output) and output.numel() * output.element_size() <= _MAX_OUTPUT_BYTES:
        node.metadata[_MARK] = output.detach()


def _marked(node: Any) -> Optional[torch.Tensor]:
    """The output of a model that this node of the graph has computed."""
    found: Optional[torch.Tensor] = node.metadata.get(_MARK) if node is not None else None
    return found


def compared_in(root: torch.Tensor) -> Optional[Compared]:
    """None where the loss is another one."""
    try:
        for node in _behind(root.grad_fn):
            found = _squares(node) or _likelihoods(node)
            if found is not None:
                return found
    except RuntimeError:  # what was saved is gone, or was changed since
        pass
    return None


# Element by element.
_ELEMENTWISE = ("Add", "Sub", "Mul", "Div", "Pow", "Abs", "Neg", "Log", "Rsub", "Clamp", "Exp", "Sigmoid", "Softplus",
                "LogSigmoid", "Sqrt", "Maximum", "Minimum", "Huber", "SmoothL1")  # fmt: skip


def broadcast_in(root: torch.Tensor) -> Optional[tuple[int, int, int]]:
    """Elements that the loss is a mean over, elements of an output that it is made of, and samples of that, where there are
    as many times more of the former as there are samples: each was compared with every other."""
    try:
        for node in _behind(root.grad_fn):
            sizes = _averaged(node)
            for output in _made_of(node.next_functions[0][0]) if sizes else ():
                samples = output.shape[0] if output.dim() > 0 else 0
                if samples > 1 and sizes == output.numel() * samples:
                    return sizes, output.numel(), samples
    except RuntimeError:
        pass
    return None


def _averaged(node: Any) -> int:
    """Elements that this is the mean or the sum of; 0 where it is none."""
    if _name(node) not in ("Mean", "Sum"):
        return 0
    sizes: Any = getattr(node, "_saved_self_sym_sizes", None) or getattr(node, "_saved_self_sizes", ())
    count = 1
    for size in sizes:
        count *= int(size)
    return count


def _made_of(node: Any) -> Iterator[torch.Tensor]:
    """The outputs of models from which operators that go element by element alone have made this."""
    open_nodes, count = [node], 0
    while open_nodes and count < _MAX_NODES:
        here = open_nodes.pop(0)
        count += 1
        if (output := _marked(here)) is not None:
            yield output
            continue
        # Who writes unsqueeze() compares each with every other on purpose.
        if here is not None and _name(here).startswith((*_ELEMENTWISE, "Clone", "ToCopy", "Alias")):
            open_nodes += [each for each, _ in here.next_functions]


def _name(node: Any) -> str:
    return type(node).__name__.split("Backward")[0]


def _behind(node: Any) -> Iterator[Any]:
    """What the loss is made of, past sums and scalings; the nearest first."""
    open_nodes, count = [node], 0
    while open_nodes and count < _MAX_NODES:
        here = open_nodes.pop(0)
        if here is None:
            continue
        count += 1
        yield here
        if _name(here).startswith(_SCALINGS):
            open_nodes += [each for each, _ in here.next_functions]


def _squares(node: Any) -> Optional[Compared]:
    name = _name(node)
    inner = node.next_functions[0][0] if node.next_functions else None
    is_square = (name == "Pow" and getattr(node, "_saved_exponent", None) == 2) or _is_own_square(node)
    if inner is None or not (is_square or name == "Abs") or _name(inner) != "Sub" or len(inner.next_functions) != 2:
        return None
    (first, _), (second, _) = inner.next_functions
    if (first is None) == (second is None):
        return None
    differences = node._saved_self
    predicted = _output_behind(first if first is not None else second)
    if differences is None or predicted is None or predicted.numel() != differences.numel():
        return None
    predicted, differences = predicted.detach().reshape(differences.shape), differences.detach()
    target = predicted - differences if first is not None else predicted + differences
    if not _is_known(predicted, differences, target):
        return None
    return Compared("mse_loss" if is_square else "l1_loss", (predicted, target))


def _is_known(predicted: torch.Tensor, differences: torch.Tensor, target: torch.Tensor) -> bool:
    """Is the target what the program has compared with, and data? Of an answer that is no number, or far larger than the
    target, nothing can be read back; and one number for all elements is a constant of the program, as in
    `(model(x) - 1) ** 2`."""
    if target.numel() == 0 or not target.is_floating_point():
        return False
    sizes = (*torch.aminmax(target), predicted.abs().amax(), differences.abs().amax())
    low, high, answer, distance = torch.stack([each.float() for each in sizes]).tolist()
    if not (math.isfinite(answer) and math.isfinite(distance)):
        return math.isfinite(answer)  # what is no number then is the target
    rounding = 4 * torch.finfo(target.dtype).eps * max(answer, distance)
    is_constant = target.numel() > 1 and high - low <= rounding
    return not is_constant and rounding <= _LOST * max(abs(high), abs(low))


def _is_own_square(node: Any) -> bool:
    """`d * d`, or `(p - y) * (p - y)`."""
    if _name(node) != "Mul" or len(node.next_functions) != 2 or any(each is None for each, _ in node.next_functions):
        return False
    one, other = node._saved_self, node._saved_other
    return one is not None and other is not None and one.shape == other.shape and torch.equal(one, other)


def _output_behind(node: Any) -> Optional[torch.Tensor]:
    for _ in range(_MAX_VIEWS):
        if (output := _marked(node)) is not None:
            return output
        if node is None or not _name(node).startswith(_VIEWS) or not node.next_functions:
            return None
        node = node.next_functions[0][0]
    return None


def _likelihoods(node: Any) -> Optional[Compared]:
    name = _name(node)
    inner = node.next_functions[0][0] if node.next_functions else None
    if inner is None or name not in ("Gather", "Index"):
        return None
    if _name(inner) == "LogSoftmax":
        logarithms = inner._saved_result
    elif _name(inner) == "Log" and _name(inner.next_functions[0][0]) == "Softmax":
        logarithms = inner.next_functions[0][0]._saved_result.log()
    else:
        return None
    if name == "Gather":
        labels = node._saved_index
        labels = labels.squeeze(-1) if labels.dim() == logarithms.dim() and labels.shape[-1] == 1 else None
    else:
        chosen = [each for each in node._saved_indices if each is not None]
        labels = chosen[1] if len(chosen) == 2 else None
    if labels is None or labels.is_floating_point() or logarithms.dim() != 2 or labels.shape != logarithms.shape[:1]:
        return None
    return Compared("nll_loss", (logarithms.detach(), labels.detach()))
