"""A module gives back a subclass of dict whose get(), values() and items() count."""
import torch
import seen


class Output(dict):
    calls = []

    def get(self, key, default=None):
        Output.calls.append("get")
        return super().get(key, default)

    def values(self):
        Output.calls.append("values")
        return super().values()

    def items(self):
        Output.calls.append("items")
        return super().items()

    def __contains__(self, key):
        Output.calls.append("contains")
        return super().__contains__(key)

    def __getitem__(self, key):
        Output.calls.append("getitem")
        return super().__getitem__(key)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)

    def forward(self, x, y):
        logits = self.linear(x)
        return Output(loss=torch.nn.functional.cross_entropy(logits, y), logits=logits)


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(30):
    optimizer.zero_grad()
    output = net(torch.randn(8, 4), torch.randint(3, (8,)))
    dict.__getitem__(output, "loss").backward()
    optimizer.step()
print(len(Output.calls), sorted(set(Output.calls)), seen.digest(net))
