"""A MagicMock is an argument and a part of the output; it remembers whatever is asked of it."""
from unittest import mock
import torch
import seen


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)

    def forward(self, x, context):
        return self.linear(x), context


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
context = mock.MagicMock()
for step in range(12):
    optimizer.zero_grad()
    output, _ = net(torch.randn(8, 4), context)
    output.pow(2).mean().backward()
    optimizer.step()
print(context.mock_calls, context.method_calls, seen.digest(net))
