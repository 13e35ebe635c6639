"""A program that patches torch itself: unittest.mock around functions, its own Module.__call__, step of one object."""
from unittest import mock
import torch
import torch.nn.functional as F
import seen

calls = []
net = seen.small_net()
seen.train(net, 5)
with mock.patch.object(F, "mse_loss", wraps=F.mse_loss) as patched:
    seen.train(net, 5)
    calls.append(patched.call_count)
inner = torch.nn.Module.__call__


def counting(self, *args, **kwargs):
    calls.append(type(self).__name__)
    return inner(self, *args, **kwargs)


torch.nn.Module.__call__ = counting
seen.train(net, 2)
torch.nn.Module.__call__ = inner
optimizer = torch.optim.SGD(net.parameters(), 0.1)
plain = optimizer.step
optimizer.step = lambda *args: calls.append("step") or plain(*args)
seen.train(net, 3, optimizer)
with mock.patch("torch.autograd.backward") as patched:
    torch.ones(1, requires_grad=True).backward()
    calls.append(patched.call_count)
with mock.patch("torch.save") as patched:
    torch.save({}, "never.pt")
    calls.append(patched.call_count)
seen.train(net, 5)
print(calls, torch.nn.Module.__call__ is inner, seen.digest(net))
