"""usage: train.py WAY: a small convolutional network, in the way that is named."""

import sys

import mxnet as mx
import numpy as np
import seeing
from mxnet import autograd, gluon

way = sys.argv[1]
mx.random.seed(1)
random = np.random.RandomState(1)
if way == "numpy":
    mx.npx.set_np()
make = mx.np.array if way == "numpy" else mx.nd.array
contexts = [mx.cpu(0), mx.cpu(1)] if way.startswith("devices") else [mx.cpu()]

model = gluon.nn.HybridSequential()
model.add(gluon.nn.Conv2D(4, 3, activation="relu"), gluon.nn.BatchNorm(), gluon.nn.MaxPool2D(), gluon.nn.Dense(8))
model.add(gluon.nn.Activation("tanh"), gluon.nn.Dropout(0.3), gluon.nn.Dense(3))
model.initialize(mx.init.Xavier(), ctx=contexts)
if way.startswith("hybrid"):
    model.hybridize(static_alloc=way == "hybrid_static", static_shape=way == "hybrid_static")
criterion = gluon.loss.SoftmaxCrossEntropyLoss()
batches = [(random.rand(8, 1, 8, 8), random.randint(0, 3, 8)) for _ in range(6)]
batches = [tuple(make(each.astype("float32")) for each in batch) for batch in batches]
model(batches[0][0].as_in_context(contexts[0]))  # shapes are known from here on, and nothing trains yet
parameters = list(model.collect_params().values())
if way == "accumulates":
    for parameter in parameters:
        parameter.grad_req = "add" if parameter.grad_req != "null" else "null"
options = {"update_on_kvstore": False} if way in ("clips", "devices_summed") else {}
trainer = gluon.Trainer(model.collect_params(), "adam", {"learning_rate": 0.01}, **options)


def loss_of(images, labels):
    if way == "own_loss":
        return -mx.nd.pick(mx.nd.log_softmax(model(images)), labels).mean()
    return criterion(model(images), labels)


def backward(images, labels):
    images, labels = (gluon.utils.split_and_load(each, contexts) for each in (images, labels))
    with autograd.record():
        losses = [loss_of(*pair) for pair in zip(images, labels)]
    autograd.backward(losses)
    return losses


for step, (images, labels) in enumerate(batches):
    if way == "fails" and step == 4:
        raise RuntimeError("an error of the program's own")
    losses = backward(images, labels)
    if way == "accumulates":
        losses += backward(images[::-1], labels[::-1])
    if way == "devices_summed":
        trainer.allreduce_grads()
    if way == "clips":
        trainer.allreduce_grads()
        gluon.utils.clip_global_norm([each.grad() for each in parameters if each.grad_req != "null"], 0.5)
    for index, loss in enumerate(losses):
        seeing.note(step, **{f"loss{index}": loss.mean()})
        loss[:] = -1  # the program's own, and what it was is captured already
    seeing.note_update(step, parameters)
    if way in ("clips", "devices_summed"):
        trainer.update(8)
    else:
        trainer.step(8)
    if way == "accumulates":
        model.collect_params().zero_grad()
    print(step)
    if step % 3 == 2:
        for images, labels in batches[:2]:
            print("eval", loss_of(images.as_in_context(contexts[0]), labels.as_in_context(contexts[0])).mean())
seeing.finish(parameters)
