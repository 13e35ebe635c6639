"""An exception of a loss function of torch that nobody catches, after some steps."""
import torch
import seen

net = seen.small_net()
seen.train(net, 10)
torch.nn.functional.cross_entropy(net(torch.randn(8, 4)), torch.full((8,), 7))
