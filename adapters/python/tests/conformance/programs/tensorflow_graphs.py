"""The small model of programs that build a graph."""

import numpy as np
import tensorflow.compat.v1 as tf

random = np.random.RandomState(1)
features, labels = random.rand(32, 4).astype("float32"), random.rand(32, 1).astype("float32")
hidden, out = random.randn(4, 8).astype("float32"), random.randn(8, 1).astype("float32")


def built(x, y):
    """The loss, and the operation that trains."""
    with tf.variable_scope("hidden"):
        h = tf.nn.relu(tf.matmul(x, tf.get_variable("kernel", initializer=hidden)) + bias(8))
    with tf.variable_scope("out"):
        outputs = tf.matmul(h, tf.get_variable("kernel", initializer=out)) + bias(1)
    loss = tf.reduce_mean(tf.square(outputs - y), name="loss")
    return loss, tf.train.MomentumOptimizer(0.05, 0.9).minimize(loss, tf.train.get_or_create_global_step())


def bias(width):
    return tf.get_variable("bias", [width], initializer=tf.zeros_initializer())


def bytes_of(session):
    return b"".join(weight.tobytes() for weight in session.run(tf.trainable_variables()))
