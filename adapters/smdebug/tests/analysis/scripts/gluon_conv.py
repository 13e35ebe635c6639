"""A small network of Gluon, of the kind that the notebook of real-time analysis trains. It knows nothing of smdebug."""

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon

random = np.random.RandomState(0)
net = gluon.nn.HybridSequential(prefix="")
with net.name_scope():
    net.add(gluon.nn.Conv2D(6, 3, activation="relu"), gluon.nn.MaxPool2D(2, 2), gluon.nn.Dense(3))
net.initialize(mx.init.Xavier())
criterion = gluon.loss.SoftmaxCrossEntropyLoss()
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
for step in range(250):
    images, labels = mx.nd.array(random.rand(4, 1, 8, 8)), mx.nd.array(random.randint(0, 3, 4))
    with autograd.record():
        loss = criterion(net(images), labels)
    loss.backward()
    trainer.step(4)
