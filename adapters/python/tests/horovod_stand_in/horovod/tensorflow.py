"""horovod.tensorflow: a tape, and an optimizer of graphs, whose gradients are added up over ranks."""

import tensorflow as tf

from .meeting import averaged, gathered, init, is_initialized, local_rank, rank, size

__all__ = [
    "DistributedGradientTape",
    "DistributedOptimizer",
    "broadcast_variables",
    "init",
    "is_initialized",
    "local_rank",
    "rank",
    "size",
]


class _DistributedGradientTape(tf.GradientTape):
    """Its members are put into a class derived from that of the tape which is wrapped."""

    def __init__(self, tape):
        self.__dict__.update(vars(tape))

    def gradient(self, target, sources, output_gradients=None):
        return _means(super(self.__class__, self).gradient(target, sources, output_gradients))


def _means(gradients):
    means = tf.numpy_function(lambda *arrays: averaged(arrays), gradients, [each.dtype for each in gradients])
    for mean, gradient in zip(means, gradients):
        mean.set_shape(gradient.shape)
    return means


def DistributedGradientTape(gradtape):
    kind = type(gradtape).__name__, (type(gradtape),), dict(_DistributedGradientTape.__dict__)
    return type(*kind)(gradtape)


class DistributedOptimizer(tf.compat.v1.train.Optimizer):
    """Around one of TensorFlow 1."""

    def __init__(self, optimizer):
        super().__init__(use_locking=False, name=f"Distributed{type(optimizer).__name__}")
        self._optimizer = optimizer

    def compute_gradients(self, *args, **kwargs):
        pairs = self._optimizer.compute_gradients(*args, **kwargs)
        return list(zip(_means([gradient for gradient, _ in pairs]), [variable for _, variable in pairs]))

    def apply_gradients(self, *args, **kwargs):
        return self._optimizer.apply_gradients(*args, **kwargs)


def broadcast_variables(variables, root_rank):
    for variable in variables:
        variable.assign(gathered([variable.numpy()])[root_rank][0])
