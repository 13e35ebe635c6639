"""Whole epochs in one call of a compiled function, in a way that the command line names; "stepwise": the same, each
update in a call of its own."""

import sys

import tensorflow as tf
from data import keras, layers, numbers, say

way = sys.argv[1]
keras.utils.set_random_seed(1)
features, labels = numbers()
dataset = tf.data.Dataset.from_tensor_slices((features, labels)).batch(8)


def made(width, optimizer):
    model = keras.Sequential([keras.Input((4,)), layers.Dense(width, activation="relu"), layers.Dense(1)])
    model.optimizer = optimizer
    return model


with_scale = keras.mixed_precision.LossScaleOptimizer if way == "scaled" else lambda optimizer: optimizer
model, other = made(8, with_scale(keras.optimizers.Adam(0.01))), made(3, keras.optimizers.SGD(0.01))
failing = tf.Variable(False)


def train(model, x, y):
    optimizer = model.optimizer
    with tf.GradientTape() as tape:
        error = model(x, training=True) - y
        if way == "nested":
            error = error + tf.random.normal(tf.shape(error))
        loss = tf.reduce_mean(tf.square(error))
        scaled = optimizer.scale_loss(loss) if hasattr(optimizer, "scale_loss") and way == "scaled" else loss
    gradients = tape.gradient(scaled, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


def update(x, y):
    loss = train(model, x, y)
    if way in ("two", "stepwise_two"):
        train(other, x, y)
    return loss


def of_dataset(data):
    loss = tf.constant(0.0)
    for x, y in data:
        loss = update(x, y)
    return loss


def of_range(steps):
    loss = tf.constant(0.0)
    for number in tf.range(steps):
        begin = number * 8
        x, y = tf.constant(features)[begin : begin + 8], tf.constant(labels)[begin : begin + 8]
        if way == "branches":
            loss = update(x, y) if number % 2 == 0 else update(x, y)
        elif way in ("seldom", "scaled"):
            loss = update(x, y)
            if number % 3 == 0:
                train(other, x, y)
        else:
            loss = update(x, y)
        if way == "fails":
            tf.debugging.Assert(number < 5 or not failing, ["enough"])
    return loss


if way.startswith("stepwise"):
    step = tf.function(update)
    for _ in range(2):
        for x, y in dataset:
            step(x, y)
else:
    if way == "nested":
        update = tf.function(update)
    if way in ("dataset", "nested", "two"):
        epoch, data = tf.function(of_dataset), dataset
    else:
        epoch, data = tf.function(of_range, jit_compile=way == "compiled"), tf.constant(12)
    for number in range(2):
        failing.assign(number == 1)
        try:
            print("loss", float(epoch(data)))
        except tf.errors.InvalidArgumentError:
            print("failed")
say(model, other)
