"""The deepest nesting of modules that can be called, found by trying; and where the RecursionError arises."""
import torch
import seen


class Wrap(torch.nn.Module):
    depth = 0

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        Wrap.depth += 1
        return self.inner(x) if self.inner is not None else x


net = seen.small_net()
seen.train(net, 10)
deep = Wrap(None)
for _ in range(600):
    deep = Wrap(deep)
depths = []
for _ in range(3):
    Wrap.depth = 0
    try:
        deep(torch.ones(2, 4))
    except RecursionError as error:
        depths.append(Wrap.depth)
print(depths, seen.digest(net))
