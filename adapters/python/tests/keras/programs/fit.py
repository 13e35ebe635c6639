"""Trains in a way that the command line names."""

import pathlib
import sys
import tempfile

from data import images, keras, layers, numbers, say, sequences

way = sys.argv[1]


def block():
    given = keras.Input((4,))
    return keras.Model(given, layers.Dense(4, name="inner")(layers.Dropout(0.1)(given)))


def stacked():
    """Models within a model, with layers of the same names."""
    given = keras.Input((4,))
    return keras.Model(given, layers.Dense(1)(block()(block()(given))))


def graphs_in(folder):
    """How many graphs the files for TensorBoard have."""
    import tensorflow as tf

    files = [str(file) for file in pathlib.Path(folder).rglob("*tfevents*")]
    events = (event for file in files for event in tf.compat.v1.train.summary_iterator(file))
    return sum(event.WhichOneof("what") == "graph_def" for event in events)


shown = tempfile.TemporaryDirectory()
keras.utils.set_random_seed(1)
options = {}
if way in ("eager", "compiled"):
    options = {"run_eagerly": way == "eager", "jit_compile": way == "compiled"}
if way == "steps_per_execution":
    options = {"steps_per_execution": 4}
optimizer = keras.optimizers.SGD(0.1)
if way == "older":
    optimizer = keras.optimizers.legacy.Adam(0.1, decay=0.5)
if way == "accumulation":
    optimizer = keras.optimizers.Adam(gradient_accumulation_steps=2)
if way == "clipped":
    optimizer = keras.optimizers.Adam(clipnorm=0.1, use_ema=True, ema_overwrite_frequency=2)
if way == "scheduled":
    optimizer = keras.optimizers.Adam(keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5))

if way == "mixed":
    keras.mixed_precision.set_global_policy("mixed_float16")
if way == "embedding":
    features, labels = sequences()
    model = keras.Sequential(
        [keras.Input((6,)), layers.Embedding(20, 4), layers.LSTM(3), layers.Dense(1, activation="sigmoid")]
    )
    loss = "binary_crossentropy"
elif way == "nested":
    features, labels = numbers()
    model, loss = stacked(), "mean_squared_error"
elif way == "shared":
    features, labels = numbers()
    given, shared = keras.Input((4,)), layers.Dense(4, activation="tanh")
    model = keras.Model(given, layers.Dense(1)(shared(shared(given))))
    loss = "mean_squared_error"
else:
    features, labels = images()
    given = keras.Input((8, 8, 1))
    hidden = layers.Conv2D(4, 3, activation="relu")(given)
    if way != "by_batch":  # which, on one thread, has another last bit here and there, whatever memory it gets
        hidden = layers.BatchNormalization()(hidden)
    hidden = layers.Dropout(0.5)(layers.Flatten()(hidden))
    model = keras.Model(given, layers.Dense(3, activation="softmax", dtype="float32")(hidden))
    loss = "sparse_categorical_crossentropy"
if way == "frozen":
    model.layers[1].trainable = False
model.compile(optimizer=optimizer, loss=loss, metrics=["accuracy"], **options)

if way == "by_batch":
    for _ in range(2):
        for begin in range(0, 96, 32):
            print(model.train_on_batch(features[begin : begin + 32], labels[begin : begin + 32]))
    print(model.test_on_batch(features, labels), float(model.predict_on_batch(features).sum()))
else:
    size = 10 if way in ("ragged", "steps_per_execution") else 32
    told = [keras.callbacks.TensorBoard(shown.name)] if way == "tensorboard" else []
    history = model.fit(features, labels, batch_size=size, epochs=2, validation_split=1 / 3, verbose=0, callbacks=told)
    print(history.history)
if way == "tensorboard":
    print(graphs_in(shown.name))
if way == "compiled_again":
    model.compile(optimizer=keras.optimizers.Adam(), loss=loss)
    print(model.fit(features, labels, batch_size=32, verbose=0).history)
print(model.evaluate(features, labels, batch_size=48, verbose=0), float(model.predict(features, verbose=0).sum()))
say(model)
