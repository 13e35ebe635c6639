"""`is` between things of torch that are one object: methods of classes, aliases, functions of modules."""
import sys
import torch
import torch.nn.functional as F
from torch import autograd, save
from torch.autograd import backward
from torch.nn.functional import mse_loss
from torch.nn.utils import clip_grad_norm_
import seen

net = seen.small_net()
optimizer = seen.train(net, 10)
print(torch.nn.Module.__call__ is torch.nn.Module._call_impl, torch.nn.Linear.__call__ is torch.nn.Module.__call__)
print(torch.nn.MSELoss.__call__ is torch.nn.Module.__call__, "__call__" in vars(torch.nn.modules.loss._Loss))
print(backward is torch.autograd.backward, mse_loss is F.mse_loss, save is torch.save is torch.serialization.save)
print(clip_grad_norm_ is torch.nn.utils.clip_grad.clip_grad_norm_, F.relu is torch.nn.modules.activation.F.relu)
sgd = sys.modules["torch.optim.sgd"]
print(torch.optim.SGD.step is sgd.SGD.step, torch.optim.SGD.zero_grad is torch.optim.Optimizer.zero_grad)
print(torch.optim.Optimizer.__init__.__qualname__, torch.load is torch.serialization.load)
print(torch.utils.data.DataLoader.__iter__ is torch.utils.data.dataloader.DataLoader.__iter__)
print("step" in vars(optimizer), optimizer.zero_grad.__func__ is torch.optim.Optimizer.zero_grad)
