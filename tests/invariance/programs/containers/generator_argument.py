"""A module's argument is a generator, which can be drawn from once."""
import torch
import seen


class Pool(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 2)

    def forward(self, stream):
        return torch.stack([self.linear(each) for each in stream]).mean(0)


torch.manual_seed(0)
net = Pool()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
drawn = 0


def stream(count):
    global drawn
    for _ in range(count):
        drawn += 1
        yield torch.randn(4, 4)


for step in range(20):
    optimizer.zero_grad()
    loss = net(stream(3)).square().sum()
    loss.backward()
    optimizer.step()
print(drawn, seen.digest(net))
