import acting
import mxnet as mx
import numpy as np
from mxnet import autograd, gluon

given = acting.arguments()
mx.random.seed(1)
random = np.random.RandomState(1)
model = gluon.nn.HybridSequential()
model.add(gluon.nn.Dense(8, activation="relu"), gluon.nn.Dense(1))
model.initialize(mx.init.Xavier())
criterion = gluon.loss.L2Loss()
trainer = gluon.Trainer(model.collect_params(), "sgd", {"learning_rate": 0.05})
features, labels = mx.nd.array(random.rand(32, 4)), mx.nd.array(random.rand(32, 1))
for step, features, labels in acting.batches(given, features, labels):
    with autograd.record():
        loss = criterion(model(features), labels)
    loss.backward()
    trainer.step(32)
    acting.step_ended(given, step, loss.mean().asscalar())
acting.finish(b"".join(parameter.data().asnumpy().tobytes() for parameter in model.collect_params().values()))
