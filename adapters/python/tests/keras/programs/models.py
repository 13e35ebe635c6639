"""The same model made again and again, as in a notebook; two that train side by side; and one that is captured for a
while."""

import os
import sys

from data import keras, layers, numbers, say

keras.utils.set_random_seed(1)
features, labels = numbers()


def made(width):
    model = keras.Sequential([keras.Input((4,)), layers.Dense(width, activation="relu"), layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.SGD(0.1), loss="mean_squared_error")
    return model


if sys.argv[1] == "detached":
    model = keras.Sequential([keras.Input((4,)), layers.Dense(8), layers.Dropout(0.5), layers.Dense(1)])
    model.compile(optimizer=keras.optimizers.SGD(0.1), loss="mean_squared_error")
    for _ in range(2):
        print(model.fit(features, labels, batch_size=32, verbose=0).history)
        if "TRAINWARDEN_ATTACH" in os.environ:
            import trainwarden.keras

            trainwarden.keras.detach()
    say(model)
elif sys.argv[1] == "again":
    for _ in range(3):
        model = made(8)
        model.fit(features, labels, batch_size=32, verbose=0)
        say(model)
else:
    models = [made(8), made(5)]
    for _ in range(3):
        for model in models:
            model.train_on_batch(features[:32], labels[:32])
    say(*models)
