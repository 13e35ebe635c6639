"""Loops of one's own over tf.GradientTape, in a way that the command line names."""

import sys

import tensorflow as tf
from data import keras, layers, numbers, say

way = sys.argv[1]
keras.utils.set_random_seed(1)
features, labels = numbers()


def made(width):
    return keras.Sequential([keras.Input((4,)), layers.Dense(width, activation="relu"), layers.Dense(1)])


model, optimizer = made(8), keras.optimizers.SGD(0.1)
model.optimizer = optimizer
other, other_optimizer = made(3), keras.optimizers.SGD(0.05)
other.optimizer = other_optimizer


def update(x, y):
    with tf.GradientTape() as tape:
        error = model(x, training=True) - y
        if way == "random":
            error = error + tf.random.normal(tf.shape(error))
        loss = tf.reduce_mean(tf.square(error))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    if way.startswith("two"):
        with tf.GradientTape() as tape:
            other_loss = tf.reduce_mean(tf.square(other(x) - y))
        gradients = tape.gradient(other_loss, other.trainable_variables)
        other_optimizer.apply_gradients(zip(gradients, other.trainable_variables))
    return loss


def evaluate(x, y):
    return tf.reduce_mean(tf.abs(model(x) - y))


class Trainer(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec((None, 4), tf.float32), tf.TensorSpec((None, 1), tf.float32)])
    def update(self, x, y):
        return update(x, y)


def epoch(x, y):
    loss = tf.constant(0.0)
    for begin in tf.range(0, 96, 32):
        loss = update(x[begin : begin + 32], y[begin : begin + 32])
    return loss


step, check = update, evaluate
if way == "method":
    step = Trainer().update
elif "eager" not in way:
    step, check = tf.function(update, jit_compile=way == "compiled"), tf.function(evaluate)
for _ in range(2):
    if way == "inside":
        print("loss", float(tf.function(epoch)(tf.constant(features), tf.constant(labels))))
        continue
    for begin in range(0, 96, 32):
        x, y = tf.constant(features[begin : begin + 32]), tf.constant(labels[begin : begin + 32])
        print("loss", float(step(x, y)))
    print("error", float(check(tf.constant(features), tf.constant(labels))))
say(model)
if way.startswith("two"):
    say(other)
