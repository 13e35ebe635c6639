"""usage: poisoned_loop.py WAY [leave_out]: as poisoned.py, with a loop over tf.GradientTape."""

import sys

import keras
import numpy as np
import tensorflow as tf
from data import numbers, say
from keras import layers

way = sys.argv[1]
is_left_out = sys.argv[2:] == ["leave_out"]
keras.utils.set_random_seed(1)
features, labels = numbers(80)
features[35] = np.nan
norm = [] if "eager" in way else [layers.BatchNormalization()]  # which an eager loop updates before any gradient
model = keras.Sequential([keras.Input((4,)), layers.Dense(8, activation="relu"), *norm, layers.Dense(1)])
other = keras.Sequential([keras.Input((4,)), layers.Dense(3), layers.Dense(1)])
model.optimizer, other.optimizer = keras.optimizers.Adam(0.01), keras.optimizers.SGD(0.05, momentum=0.9)
trained = [model, other] if way.startswith("two") else [model]
seen = tf.Variable(0)


def step(x, y):
    for each in trained:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(each(x, training=True) - y))
        gradients = tape.gradient(loss, each.trainable_variables)
        each.optimizer.apply_gradients(zip(gradients, each.trainable_variables))
    if "eager" not in way:
        seen.assign_add(1)


update = step if "eager" in way else tf.function(step, jit_compile=way == "compiled")
for begin in range(0, 80, 10):
    if begin == 30 and is_left_out:
        continue
    update(tf.constant(features[begin : begin + 10]), tf.constant(labels[begin : begin + 10]))
say(*trained)
print("finite", all(np.isfinite(weight).all() for weight in model.get_weights()), "seen", int(seen))
