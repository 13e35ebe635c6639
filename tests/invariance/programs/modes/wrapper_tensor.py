"""Weights of a wrapper class with __torch_dispatch__ (as quantised or distributed tensors are)."""
import torch
from torch.utils._pytree import tree_map
import seen


class Wrapped(torch.Tensor):
    calls = 0

    @staticmethod
    def __new__(cls, inner):
        made = torch.Tensor._make_wrapper_subclass(
            cls, inner.shape, dtype=inner.dtype, requires_grad=inner.requires_grad
        )
        made.inner = inner.detach()
        return made

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        Wrapped.calls += 1
        plain = tree_map(lambda each: each.inner if isinstance(each, Wrapped) else each, (args, kwargs or {}))
        return tree_map(lambda e: Wrapped(e) if isinstance(e, torch.Tensor) else e, func(*plain[0], **plain[1]))

    __torch_function__ = torch._C._disabled_torch_function_impl


torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(10):
    optimizer.zero_grad()
    output = net(Wrapped(torch.randn(8, 4)))
    output.pow(2).mean().backward()
    for parameter in net.parameters():
        if isinstance(parameter.grad, Wrapped):
            parameter.grad = parameter.grad.inner
    optimizer.step()
print(Wrapped.calls, seen.digest(net))
