"""Tied weights, a module that is registered twice, and a parameter in two models."""
import torch
import seen


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(10, 4)
        self.head = torch.nn.Linear(4, 10, bias=False)
        self.head.weight = self.embed.weight
        self.again = self.head

    def forward(self, ids):
        return self.again(self.embed(ids))


torch.manual_seed(0)
net, other = Net(), torch.nn.Linear(4, 10, bias=False)
other.weight = net.embed.weight
optimizer = torch.optim.SGD({id(each): each for each in [*net.parameters(), *other.parameters()]}.values(), 0.1)
for step in range(20):
    optimizer.zero_grad()
    ids = torch.randint(10, (8,))
    (torch.nn.functional.cross_entropy(net(ids), ids) + other(torch.randn(2, 4)).pow(2).mean()).backward()
    optimizer.step()
print(net.head.weight is net.embed.weight is other.weight, seen.digest(net))
