"""The default type is float64, and is changed in the middle of the training."""
import torch
import seen

torch.set_default_dtype(torch.float64)
net = seen.small_net()
seen.train(net, 12)
torch.set_default_dtype(torch.float32)
other = seen.small_net()
seen.train(other, 12)
torch.set_default_tensor_type(torch.DoubleTensor)
print(torch.get_default_dtype(), net[0].weight.dtype, other[0].weight.dtype, torch.ones(1).dtype)
print(seen.digest(net, other))
