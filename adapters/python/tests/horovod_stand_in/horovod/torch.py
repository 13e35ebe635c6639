"""horovod.torch: gradients are added up over ranks while backward() runs, and are there when step() begins its work."""

import contextlib

import torch

from .meeting import averaged, gathered, init, is_initialized, local_rank, rank, size

__all__ = ["DistributedOptimizer", "broadcast_parameters", "init", "is_initialized", "local_rank", "rank", "size"]


class _DistributedOptimizer(torch.optim.Optimizer):
    """Its members are put into a class derived from that of the optimizer which is wrapped."""

    def __init__(self, params):
        super(self.__class__, self).__init__(params)
        self._handles = []
        self._should_synchronize = True
        self._accumulators = []
        for parameter in (each for group in self.param_groups for each in group["params"]):
            accumulator = parameter.expand_as(parameter).grad_fn.next_functions[0][0]
            accumulator.register_hook(lambda *_, parameter=parameter: self._handles.append(parameter))
            self._accumulators.append(accumulator)

    def synchronize(self):
        ready, self._handles = sorted(self._handles, key=lambda each: tuple(each.shape)), []
        for parameter, mean in zip(ready, averaged([each.grad.numpy() for each in ready])):
            parameter.grad.set_(torch.from_numpy(mean))

    @contextlib.contextmanager
    def skip_synchronize(self):
        self._should_synchronize = False
        try:
            yield
        finally:
            self._should_synchronize = True

    def step(self, closure=None):
        if self._should_synchronize:
            self.synchronize()
        return super(self.__class__, self).step(closure)


def DistributedOptimizer(optimizer, named_parameters=None):
    kind = type(optimizer).__name__, (type(optimizer),), dict(_DistributedOptimizer.__dict__)
    return type(*kind)(optimizer.param_groups)


def broadcast_parameters(params, root_rank):
    for _, parameter in sorted(params.items()):
        parameter.data.copy_(torch.from_numpy(gathered([parameter.detach().numpy()])[root_rank][0]))
