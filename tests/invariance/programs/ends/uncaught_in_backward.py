"""backward() twice through the same graph, and nobody catches it."""
import torch
import seen

net = seen.small_net()
seen.train(net, 10)
loss = net(torch.randn(8, 4)).pow(2).mean()
loss.backward()
loss.backward()
