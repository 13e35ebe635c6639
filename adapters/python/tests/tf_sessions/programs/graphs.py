"""Small graphs, which start from the same numbers each time. Each gives a function that runs what a batch does."""

import numpy as np
import tensorflow.compat.v1 as tf

random = np.random.RandomState(1)
batches = random.rand(6, 16, 8).astype("float32")


def kernel(*shape):
    return tf.constant_initializer(random.normal(0, 0.3, shape).astype("float32"))


def fed(step):
    """By the names of what is fed."""
    return {"x:0": batches[step], "y:0": batches[step].sum(1, keepdims=True)}


def placeholders():
    return tf.placeholder(tf.float32, [None, 8], name="x"), tf.placeholder(tf.float32, [None, 1], name="y")


def classic():
    """Layers, a batch normalization, dropout, and a rate that decays."""
    x, y = placeholders()
    h = tf.layers.dense(x, 16, activation=tf.nn.relu, name="hidden", kernel_initializer=kernel(8, 16))
    h = tf.layers.batch_normalization(h, training=True, name="norm")
    h = tf.nn.dropout(h, rate=0.2)
    loss = tf.losses.mean_squared_error(y, tf.layers.dense(h, 1, name="out", kernel_initializer=kernel(16, 1)))
    steps = tf.train.get_or_create_global_step()
    optimizer = tf.train.AdamOptimizer(tf.train.exponential_decay(0.01, steps, 2, 0.5))
    gradients = optimizer.compute_gradients(loss)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train = optimizer.apply_gradients(gradients, steps)
    return loss, train, gradients


def clipped():
    """As BERT trains: gradients clipped by all of them, and an optimizer of its own that assigns."""
    x, y = placeholders()
    with tf.variable_scope("words"):
        table = tf.get_variable("embeddings", [8, 4], initializer=kernel(8, 4))
        words = tf.nn.embedding_lookup(table, tf.cast(x * 7.99, tf.int32))
    p = tf.layers.dense(tf.reshape(words, [-1, 32]), 1, tf.tanh, name="out", kernel_initializer=kernel(32, 1))
    loss = tf.reduce_mean(tf.square(p - y), name="loss")
    variables = tf.trainable_variables()
    raw = tf.gradients(loss, variables)
    gradients, _ = tf.clip_by_global_norm(raw, 0.5)
    with tf.control_dependencies([gradient if gradient is not None else loss for gradient in gradients]):
        train = tf.group(*[v.assign(v - 0.1 * tf.convert_to_tensor(g)) for g, v in zip(gradients, variables)])
    return loss, train, list(zip(raw, variables))


def branched():
    """A loop and a condition in the graph; each second step updates."""
    x, y = placeholders()
    w = tf.get_variable("net/w", [8, 1], initializer=kernel(8, 1))
    h = tf.matmul(x, w)
    _, h = tf.while_loop(lambda i, _: i < 3, lambda i, h: (i + 1, tf.tanh(h)), [0, h])
    h = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.nn.relu(h), lambda: h)
    loss = tf.reduce_mean(tf.square(h - y), name="loss")
    steps = tf.train.get_or_create_global_step()
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    gradients = optimizer.compute_gradients(loss)
    with tf.control_dependencies([gradients[0][0]]):
        count = tf.assign_add(steps, 1)
    train = tf.cond(tf.equal(count % 2, 0), lambda: optimizer.apply_gradients(gradients), tf.no_op)
    return loss, train, gradients
