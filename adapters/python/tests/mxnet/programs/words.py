"""Words: an embedding with sparse gradients, a recurrent layer, data that transforms of Gluon load in other processes,
and a part of the model that gets no gradient in the steps with an odd number."""

import mxnet as mx
import numpy as np
import seeing
from mxnet import autograd, gluon
from mxnet.gluon.data.vision import transforms

mx.random.seed(1)
random = np.random.RandomState(1)


class Model(gluon.Block):
    def __init__(self):
        super().__init__()
        with self.name_scope():
            self.embedding = gluon.nn.Embedding(50, 6, sparse_grad=True)
            self.memory = gluon.rnn.LSTM(5, layout="NTC")
            self.head, self.other = gluon.nn.Dense(1, in_units=5), gluon.nn.Dense(1, in_units=5)

    def forward(self, words, takes_other):
        state = self.memory(self.embedding(words))[:, -1]
        return self.other(state) if takes_other else self.head(state)


def load():
    images = mx.nd.array(random.randint(0, 255, (16, 6, 6, 1)), dtype="uint8")
    images = gluon.data.ArrayDataset(images, random.rand(16).astype("float32"))
    return gluon.data.DataLoader(images.transform_first(transforms.ToTensor()), batch_size=4, num_workers=2)


if __name__ == "__main__":
    model, criterion = Model(), gluon.loss.L1Loss()
    model.initialize()
    trainer = gluon.Trainer(model.collect_params(), "sgd", {"learning_rate": 0.1})
    words = mx.nd.array(random.randint(0, 50, (4, 7)))
    normalize = transforms.Normalize(0.5, 0.5)
    for step, (images, labels) in enumerate(load()):
        images = normalize(images[0])
        with autograd.record():
            loss = criterion(model(words, step % 2 == 1), labels + images.mean())
        loss.backward()
        seeing.note(step, loss=loss.mean())
        trainer.step(4, ignore_stale_grad=True)
        print(step, loss.mean().asscalar())
    seeing.finish(model.collect_params().values())
