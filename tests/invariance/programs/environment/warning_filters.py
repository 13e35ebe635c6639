"""warnings: filters, registries, showwarning and defaults are the program's."""
import warnings

before = list(warnings.filters), warnings.showwarning, warnings.formatwarning
import torch

middle = list(warnings.filters)
import seen

net = seen.small_net()
seen.train(net, 20)
print(len(before[0]), middle == list(warnings.filters), [each[0] for each in warnings.filters])
print(warnings.showwarning is before[1], warnings.formatwarning is before[2], seen.digest(net))
