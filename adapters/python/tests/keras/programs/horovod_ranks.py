"""usage: horovod_ranks.py graph|eager: a loop over tf.GradientTape, as Horovod's documentation has it."""

import sys

import horovod.tensorflow as hvd
import keras
import numpy as np
import tensorflow as tf
from data import numbers
from keras import layers

hvd.init()
keras.utils.set_random_seed(1 + hvd.rank())
features, labels = numbers()
model = keras.Sequential([keras.Input((4,)), layers.Dense(8, activation="relu"), layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.1)
hvd.broadcast_variables(model.variables, root_rank=0)


def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    tape = hvd.DistributedGradientTape(tape)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


if sys.argv[1] == "graph":
    step = tf.function(step)
for number in range(6):
    mine = np.random.default_rng([number, hvd.rank()]).integers(0, len(features), 16)
    loss = step(tf.constant(features[mine]), tf.constant(labels[mine]))
    sys.stdout.write(f"rank {hvd.rank()} step {number} loss {float(loss)!r}\n")
total = sum(float(np.abs(weight.astype("float64")).sum()) for weight in model.get_weights())
sys.stdout.write(f"weights {total!r}\n")
