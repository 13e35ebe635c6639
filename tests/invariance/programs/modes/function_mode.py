"""A TorchFunctionMode around a whole training logs each function of torch that is called."""
import collections
import torch
from torch.overrides import TorchFunctionMode
import seen


class Log(TorchFunctionMode):
    counted = collections.Counter()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        Log.counted[getattr(func, "__name__", str(func))] += 1
        return func(*args, **(kwargs or {}))


net = seen.small_net()
with Log():
    seen.train(net, 12)
print(sorted(Log.counted.items()), seen.digest(net))
