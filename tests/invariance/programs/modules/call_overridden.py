"""A model whose class has a __call__ of its own, and one that is called by its forward() alone."""
import torch
import seen

calls = []


class Own(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def __call__(self, *args, **kwargs):
        calls.append(len(args))
        return super().__call__(*args, **kwargs)

    def forward(self, x):
        return self.linear.forward(x)


torch.manual_seed(0)
net = Own()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(20):
    optimizer.zero_grad()
    (net(torch.randn(8, 4)) + net.forward(torch.ones(8, 4))).pow(2).mean().backward()
    optimizer.step()
print(calls, seen.digest(net))
