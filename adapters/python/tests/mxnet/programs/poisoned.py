"""usage: poisoned.py [leave_out]: one batch has no numbers; with `leave_out` the program does not train on it."""

import sys

import mxnet as mx
import numpy as np
import seeing
from mxnet import autograd, gluon

mx.random.seed(1)
random = np.random.RandomState(1)
model, criterion = gluon.nn.Dense(1, in_units=3), gluon.loss.L2Loss()
model.initialize()
trainer = gluon.Trainer(model.collect_params(), "adam", {"learning_rate": 0.1})
for step in range(8):
    batch, labels = mx.nd.array(random.rand(4, 3)), mx.nd.array(random.rand(4))
    if step == 3:
        batch[0, 0] = float("nan")
        if sys.argv[1:] == ["leave_out"]:
            continue
    with autograd.record():
        loss = criterion(model(batch), labels)
    loss.backward()
    trainer.step(4)
print("updates", trainer.optimizer.num_update)
seeing.finish(model.collect_params().values())
