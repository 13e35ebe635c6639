"""Modules that are equal to each other count how often == and hash are asked."""
import torch
import seen

asked = [0, 0]


class Same(torch.nn.Linear):
    def __eq__(self, other):
        asked[0] += 1
        return isinstance(other, Same)

    def __hash__(self):
        asked[1] += 1
        return 1


torch.manual_seed(0)
net = torch.nn.ModuleDict({"one": Same(4, 4), "two": Same(4, 1)})
parameters = [net["one"].weight, net["one"].bias, net["two"].weight, net["two"].bias]
optimizer = torch.optim.SGD(parameters, 0.1)
for step in range(20):
    optimizer.zero_grad()
    net["two"](net["one"](torch.randn(8, 4))).pow(2).mean().backward()
    optimizer.step()
print(asked, seen.digest_of(*parameters))
