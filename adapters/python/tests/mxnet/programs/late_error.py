"""MXNet computes behind the program's back, and says what went wrong when somebody waits for the result."""

import mxnet as mx
from mxnet import autograd, gluon

model, criterion = gluon.nn.Dense(1, in_units=3), gluon.loss.L2Loss()
model.initialize()
trainer = gluon.Trainer(model.collect_params(), "sgd", {"learning_rate": 0.1})
for step in range(3):
    noise = mx.nd.random.normal(0, -1 if step == 1 else 1, (4, 3))
    with autograd.record():
        loss = criterion(model(noise), mx.nd.ones(4))
    loss.backward()
    trainer.step(4)
    print("loss", loss.mean().asscalar() > 0)
