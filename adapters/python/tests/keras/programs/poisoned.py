"""usage: poisoned.py WAY [leave_out]: one batch has no numbers; with `leave_out` the program does not train on it."""

import sys

import numpy as np
from data import images, is_keras_2, keras, layers, say

way = sys.argv[1]
is_left_out = sys.argv[2:] == ["leave_out"]
keras.utils.set_random_seed(1)
features, labels = images(80)
batches = [(features[begin : begin + 10].copy(), labels[begin : begin + 10]) for begin in range(0, 80, 10)]
bad = 0 if way == "first" else 3
batches[bad][0][0, 0, 0, 0] = np.nan
if is_left_out:
    del batches[bad]


class Batches(keras.utils.Sequence if is_keras_2 else keras.utils.PyDataset):
    def __len__(self):
        return len(batches)

    def __getitem__(self, number):
        return batches[number]


if way == "mixed":
    keras.mixed_precision.set_global_policy("mixed_float16")
given = [] if way == "unbuilt" else [keras.Input((8, 8, 1))]
hidden = [layers.Conv2D(4, 3, activation="relu"), layers.BatchNormalization(), layers.Flatten()]
if not is_keras_2:  # whose random numbers go on with each step that has run
    hidden.insert(2, layers.Dropout(0.5))
model = keras.Sequential([*given, *hidden, layers.Dense(3, activation="softmax", dtype="float32")])
optimizer = keras.optimizers.Adam(0.01, **({"gradient_accumulation_steps": 2} if way == "accumulation" else {}))
model.compile(
    optimizer=optimizer,
    loss="sparse_categorical_crossentropy",
    run_eagerly=way == "eager",
    jit_compile=way == "compiled" or (not is_keras_2 and keras.config.backend() == "jax" and way != "eager"),
)
if way == "by_batch":
    for x, y in batches:
        model.train_on_batch(x, y)
else:
    model.fit(Batches(), shuffle=False, verbose=0)
say(model)
print("finite", all(np.isfinite(weight).all() for weight in model.get_weights()))
if way == "mixed":
    print("scale", float((model.optimizer.loss_scale if is_keras_2 else model.optimizer.dynamic_scale).numpy()))
print("state", [float(np.abs(np.asarray(each.numpy(), "float64")).sum()) for each in optimizer.variables])
