"""MAML: an inner step that is differentiated through, with functional calls of a module."""
import torch
import seen

try:
    from torch.func import functional_call
except ImportError:
    from torch.nn.utils.stateless import functional_call

net = seen.small_net()
optimizer = torch.optim.Adam(net.parameters(), 0.01)
for step in range(20):
    optimizer.zero_grad()
    for task in range(3):
        x = torch.randn(8, 4)
        weights = dict(net.named_parameters())
        inner = (functional_call(net, weights, (x,)) - task).pow(2).mean()
        slopes = torch.autograd.grad(inner, list(weights.values()), create_graph=True)
        fast = {name: value - 0.1 * slope for (name, value), slope in zip(weights.items(), slopes)}
        (functional_call(net, fast, (torch.randn(8, 4),)) - task).pow(2).mean().backward()
    optimizer.step()
print(seen.digest(net))
