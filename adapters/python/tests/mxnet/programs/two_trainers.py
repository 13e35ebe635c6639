"""A generator and what tells its work from the real: two trainers that take turns."""

import mxnet as mx
import numpy as np
import seeing
from mxnet import autograd, gluon

mx.random.seed(1)
random = np.random.RandomState(1)
generator, critic = gluon.nn.Dense(4, prefix="generator_"), gluon.nn.Dense(1, prefix="critic_")
criterion = gluon.loss.SigmoidBCELoss()
for each in (generator, critic):
    each.initialize()
trainers = [gluon.Trainer(each.collect_params(), "sgd", {"learning_rate": 0.05}) for each in (critic, generator)]
for step in range(5):
    real, noise = mx.nd.array(random.rand(8, 4)), mx.nd.array(random.rand(8, 3))
    with autograd.record():
        made = generator(noise)
        loss = criterion(critic(real), mx.nd.ones(8)) + criterion(critic(made.detach()), mx.nd.zeros(8))
    loss.backward()
    trainers[0].step(8)
    with autograd.record():
        other = criterion(critic(made), mx.nd.ones(8))
    other.backward()
    trainers[1].step(8)
    print(step, loss.mean().asscalar(), other.mean().asscalar())
seeing.finish([*generator.collect_params().values(), *critic.collect_params().values()])
