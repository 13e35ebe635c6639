"""Changes its weights itself, without an optimizer: in_place, by_data, module, never, or later (an optimizer takes over)."""

import sys

import torch
from torch import nn

STEPS = 12
how = sys.argv[1]
torch.manual_seed(1)
net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
w, b = torch.randn(3, requires_grad=True), torch.zeros(1, requires_grad=True)
has_module = how in ("module", "never", "later")
parameters = list(net.parameters()) if has_module else [w, b]


def loss():
    x = torch.randn(16, 3)
    predicted = net(x).reshape(-1) if has_module else x @ w + b
    return (predicted - x.sum(dim=1)).square().mean()


for _ in range(STEPS):
    loss().backward()
    for each in parameters:
        if how == "by_data":
            each.data -= 0.1 * each.grad.data
        elif how != "never":
            with torch.no_grad():
                each -= 0.1 * each.grad
        each.grad = None
if how == "later":
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()
print([each.detach().sum().item() for each in parameters])
