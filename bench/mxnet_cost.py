"""What capture costs a training of Gluon: in one process it is followed and left alone in turns, a few steps each.

    OMP_NUM_THREADS=1 PYTHON bench/mxnet_cost.py [--model cnn|transformer|cnn_ahead|transformer_ahead] [--pairs 30]

PYTHON has MXNet, for the transformer GluonNLP, and the package trainwarden. Prints a line of JSON for each way of capture
(bench/in_turns.py says which). The program reads its loss in each step, as most do; a model that runs ahead waits for
nothing until a block ends.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import in_turns


def cnn() -> tuple[Any, tuple[Any, ...]]:
    """270,000 weights, pictures of 32 x 32: the model, and a batch."""
    import mxnet as mx
    from mxnet.gluon import nn

    model = nn.HybridSequential()
    for width in (32, 64, 128):
        for _ in range(2):
            model.add(nn.Conv2D(width, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"))
        model.add(nn.MaxPool2D(2))
    model.add(nn.GlobalAvgPool2D(), nn.Dense(10))
    return model, (mx.nd.random.uniform(shape=(64, 3, 32, 32)),)


def transformer() -> tuple[Any, tuple[Any, ...]]:
    """A million weights: two layers, 128 wide, sequences of 64 words out of 5,000."""
    import gluonnlp
    import mxnet as mx
    from mxnet.gluon import nn

    class Model(nn.Block):
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope():
                self.embedding = nn.Embedding(5000, 128)
                self.encoder = gluonnlp.model.BERTEncoder(
                    units=128, hidden_size=512, num_layers=2, num_heads=4, max_length=64, dropout=0.0
                )
                self.head = nn.Dense(10)

        def forward(self, words: Any) -> Any:
            return self.head(self.encoder(self.embedding(words))[0].mean(axis=1))

    return Model(), (mx.nd.floor(mx.nd.random.uniform(0, 5000, (32, 64))),)


def program(
    build: Callable[[], tuple[Any, tuple[Any, ...]]], reads_loss: bool
) -> tuple[Callable[[int], None], Callable[[bool], None]]:
    import mxnet as mx
    from mxnet import autograd, gluon

    module = sys.modules["trainwarden.mxnet.attach"]
    mx.random.seed(1)
    model, batch = build()
    model.initialize(mx.init.Xavier())
    criterion = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(model.collect_params(), "adam", {"learning_rate": 0.001})
    size = batch[0].shape[0]
    labels = mx.nd.floor(mx.nd.random.uniform(0, 10, (size,)))
    session = module._session

    def train(steps: int) -> None:
        for _ in range(steps):
            with autograd.record():
                loss = criterion(model(*batch), labels)
            loss.backward()
            trainer.step(size)
            if reads_loss:
                loss.mean().asscalar()
        mx.nd.waitall()

    def follow(is_followed: bool) -> None:
        module._session = session if is_followed else None

    return train, follow


if __name__ == "__main__":
    programs = {}
    for build in (cnn, transformer):
        programs[build.__name__] = functools.partial(program, build, True)
        programs[f"{build.__name__}_ahead"] = functools.partial(program, build, False)
    in_turns.main(__doc__, programs)
