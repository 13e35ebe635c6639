"""Which bar is it? A small convolutional network of Gluon learns to tell made-up pictures apart.

    python digits.py [--spoil] [--epochs 4]
"""

import argparse

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon

SIZE, BATCH = 12, 32


def pictures(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Noise with a bright bar: lying, standing, or both."""
    random = np.random.RandomState(seed)
    images, labels = 0.3 * random.rand(count, 1, SIZE, SIZE), random.randint(0, 3, count)
    for image, label in zip(images, labels):
        place = random.randint(SIZE)
        if label in (0, 2):
            image[0, place, :] += 0.7
        if label in (1, 2):
            image[0, :, place] += 0.7
    return images.astype("float32"), labels.astype("float32")


def network() -> gluon.nn.HybridSequential:
    net = gluon.nn.HybridSequential(prefix="")
    with net.name_scope():
        net.add(gluon.nn.Conv2D(8, 5, activation="relu"), gluon.nn.MaxPool2D(2, 2))
        net.add(gluon.nn.Dense(32, activation="relu"), gluon.nn.Dense(3))
    net.initialize(mx.init.Xavier())
    return net


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--spoil", action="store_true", help="one batch has a pixel that is no number")
    given = parser.parse_args()
    mx.random.seed(1)
    net, criterion = network(), gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.005})
    images, labels = pictures(1024, seed=1)
    if given.spoil:
        images[500, 0, 3, 3] = np.nan
    train = gluon.data.DataLoader(gluon.data.ArrayDataset(images, labels), BATCH)
    valid = gluon.data.DataLoader(gluon.data.ArrayDataset(*pictures(256, seed=2)), BATCH)
    for epoch in range(given.epochs):
        for batch, wanted in train:
            with autograd.record():
                loss = criterion(net(batch), wanted)
            loss.backward()
            trainer.step(BATCH)
        accuracy = mx.metric.Accuracy()
        for batch, wanted in valid:
            accuracy.update(wanted, net(batch))
        print(f"epoch {epoch}: accuracy {accuracy.get()[1]:.3f}")


if __name__ == "__main__":
    main()
