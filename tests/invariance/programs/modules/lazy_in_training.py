"""A lazy module that is called for the first time inside the training, with an optimizer that came before."""
import torch
import seen

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.LazyLinear(8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(20):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).pow(2).mean().backward()
    optimizer.step()
print([type(each).__name__ for each in net], seen.digest(net))
