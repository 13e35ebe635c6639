"""Classes of modules that are made at run time with type(), deleted again, and metaclasses with __call__."""
import gc
import torch
import seen

made = []


class Meta(type):
    def __call__(cls, *args, **kwargs):
        made.append(cls.__name__)
        return super().__call__(*args, **kwargs)


class Base(torch.nn.Module, metaclass=Meta):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)


torch.manual_seed(0)
digests = []
for number in range(8):
    kind = Meta(f"Net{number}", (Base,), {"forward": lambda self, x, n=number: self.linear(x) + n})
    net = kind()
    seen.train(net, 6)
    digests.append(seen.digest(net))
    del net, kind
gc.collect()
print(made, len([each for each in Base.__subclasses__()]), digests)
