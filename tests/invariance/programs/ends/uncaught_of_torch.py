"""Shapes that do not fit, in the first step: torch's own exception ends the program."""
import torch
import seen

net = seen.small_net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
torch.nn.functional.mse_loss(net(torch.randn(8, 5)), torch.ones(8, 1)).backward()
