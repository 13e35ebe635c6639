"""Lazy modules take their shapes in the first call; their class changes then."""
import torch
import seen

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.LazyLinear(8), torch.nn.ReLU(), torch.nn.LazyLinear(1))
print([type(each).__name__ for each in net])
net(torch.ones(2, 4))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
seen.train(net, 20, optimizer)
print([type(each).__name__ for each in net], [each.shape for each in net.parameters()], seen.digest(net))
