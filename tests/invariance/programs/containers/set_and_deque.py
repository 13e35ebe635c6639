"""Sets, frozensets, deques, arrays and byte strings go through a module."""
import array
import collections
import torch
import seen


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 2)

    def forward(self, window, names, numbers, raw):
        return collections.deque([self.linear(each) for each in window]), names


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.01)
window = collections.deque([torch.randn(8, 4)], maxlen=3)
for step in range(20):
    window.append(torch.randn(8, 4))
    optimizer.zero_grad()
    output, _ = net(window, frozenset({"a", "b"}), array.array("d", range(100)), b"x" * 1000)
    sum(each.pow(2).mean() for each in output).backward()
    optimizer.step()
print(len(window), seen.digest(net))
