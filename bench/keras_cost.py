"""What capture costs a training of Keras: steps of one fit(), followed and left alone in turns, in one process.

    KERAS_BACKEND=tensorflow PYTHON bench/keras_cost.py [--model cnn|transformer|mlp] [--pairs 30]

PYTHON has Keras and the package trainwarden. Prints a line of JSON for each way of capture (bench/in_turns.py says which).
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import in_turns


def cnn() -> Any:
    """270,000 weights, pictures of 32 x 32."""
    import keras
    from keras import layers

    inside = []
    for width in (32, 64, 128):
        for _ in range(2):
            inside += [layers.Conv2D(width, 3, padding="same"), layers.BatchNormalization(), layers.ReLU()]
        inside.append(layers.MaxPooling2D())
    inside += [layers.GlobalAveragePooling2D(), layers.Dense(10)]
    return keras.Sequential([keras.Input((32, 32, 3)), *inside])


def transformer() -> Any:
    """1.2 million weights: two layers, 128 wide, sequences of 64 words out of 5,000."""
    import keras
    from keras import layers

    words = keras.Input((64,), dtype="int32")
    x = layers.Embedding(5000, 128)(words)
    for _ in range(2):
        x = layers.LayerNormalization()(x + layers.MultiHeadAttention(4, 32)(x, x))
        x = layers.LayerNormalization()(x + layers.Dense(128)(layers.Dense(512, activation="gelu")(x)))
    return keras.Model(words, layers.Dense(10)(layers.GlobalAveragePooling1D()(x)))


def mlp() -> Any:
    """670,000 weights, and steps of a few milliseconds."""
    import keras
    from keras import layers

    inside = [layers.Dense(512, activation="relu"), layers.Dense(512, activation="relu"), layers.Dense(10)]
    return keras.Sequential([keras.Input((784,)), *inside])


def program(build: Callable[[], Any]) -> tuple[Callable[[int], None], Callable[[bool], None]]:
    import keras
    import numpy as np

    import trainwarden.keras

    keras.utils.set_random_seed(1)
    model = build()
    criterion = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer="adam", loss=criterion, metrics=["accuracy"])
    random = np.random.default_rng(1)
    shape = (64, *model.input_shape[1:])
    if build is transformer:
        features = random.integers(0, 5000, (32, 64))
    else:
        features = random.random(shape, dtype="float32")
    labels = random.integers(0, 10, len(features))
    attachment = sys.modules["trainwarden.keras.attach"]._attachments[keras.backend.backend()]
    collecting = sys.modules["trainwarden.keras.collecting"]
    session, loops = attachment._session, collecting._loops

    def batches() -> Any:
        while True:
            yield features, labels

    def train(steps: int) -> None:
        model.fit(batches(), steps_per_epoch=steps, verbose=0)

    def follow(is_followed: bool) -> None:
        attachment._session = session if is_followed else None
        collecting.follow_loops(loops if is_followed else None)

    return train, follow


if __name__ == "__main__":
    models = (cnn, transformer, mlp)
    in_turns.main(__doc__, {build.__name__: functools.partial(program, build) for build in models})
