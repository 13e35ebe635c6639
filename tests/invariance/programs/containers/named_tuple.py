"""A namedtuple with an __iter__ of its own."""
import collections
import torch
import seen


class Pair(collections.namedtuple("Pair", "left right")):
    iterated = 0

    def __iter__(self):
        Pair.iterated += 1
        return super().__iter__()


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 2)

    def forward(self, pair):
        return Pair(self.linear(pair.left), self.linear(pair.right))


torch.manual_seed(0)
net = Net()
optimizer = torch.optim.RMSprop(net.parameters(), 0.01)
for step in range(30):
    optimizer.zero_grad()
    output = net(Pair(torch.randn(8, 4), torch.randn(8, 4)))
    torch.nn.functional.l1_loss(output.left, output.right).backward()
    optimizer.step()
print(Pair.iterated, seen.digest(net))
