"""Hooks of the program's own: forward, pre, backward, on tensors and global ones, with their order and counts."""
import torch
import seen

order = []
net = seen.small_net()
net.register_forward_pre_hook(lambda module, args: order.append("pre"))
net.register_forward_hook(lambda module, args, output: order.append("post"))
net.register_full_backward_hook(lambda module, given, got: order.append("backward"))
handle = torch.nn.modules.module.register_module_forward_hook(lambda module, args, output: order.append("global"))
net[0].weight.register_hook(lambda gradient: order.append("weight") or gradient * 0.5)
seen.train(net, 6)
handle.remove()
seen.train(net, 6)
print(len(order), order[:12], order[-7:], seen.digest(net))
