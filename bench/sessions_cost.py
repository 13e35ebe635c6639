"""What capture costs a MonitoredSession of TensorFlow 1: steps that are followed and left alone in turns, in one process.

    PYTHON bench/sessions_cost.py [--model cnn|transformer|mlp] [--pairs 30]

PYTHON has TensorFlow and the package trainwarden. Prints a line of JSON for each way of capture (bench/in_turns.py says which).
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import in_turns


def dense(inputs: Any, scope: str, width: int, activation: Any = None) -> Any:
    """Over the last axis."""
    import tensorflow.compat.v1 as tf

    size = int(inputs.shape[-1])
    with tf.variable_scope(scope):
        kernel = tf.get_variable("kernel", (size, width))
        bias = tf.get_variable("bias", (width,), initializer=tf.zeros_initializer())
        flat = tf.matmul(tf.reshape(inputs, (-1, size)), kernel) + bias
        outputs = tf.reshape(flat, (*(int(axis) for axis in inputs.shape[:-1]), width))
        return outputs if activation is None else activation(outputs)


def cnn(random: Any) -> tuple[Any, Any]:
    """270,000 weights, pictures of 32 x 32: a batch, and what comes out."""
    import tensorflow.compat.v1 as tf

    images = random.random_sample((64, 32, 32, 3)).astype("float32")
    x = tf.placeholder(tf.float32, images.shape)
    hidden = x
    for width in (32, 64, 128):
        for part in "ab":
            with tf.variable_scope(f"conv_{width}{part}"):
                kernel = tf.get_variable("kernel", (3, 3, int(hidden.shape[-1]), width))
                bias = tf.get_variable("bias", (width,), initializer=tf.zeros_initializer())
                hidden = tf.nn.relu(tf.nn.conv2d(hidden, kernel, padding="SAME") + bias)
        hidden = tf.nn.max_pool2d(hidden, 2, 2, "VALID")
    return {x: images}, dense(tf.reduce_mean(hidden, (1, 2)), "logits", 10)


def attention(x: Any, heads: int) -> Any:
    import tensorflow.compat.v1 as tf

    batch, length, width = (int(axis) for axis in x.shape)

    def cut(name: str) -> Any:
        return tf.transpose(tf.reshape(dense(x, name, width), (batch, length, heads, width // heads)), (0, 2, 1, 3))

    query, key, value = cut("query"), cut("key"), cut("value")
    weights = tf.nn.softmax(tf.matmul(query, key, transpose_b=True) * (width // heads) ** -0.5)
    return dense(tf.reshape(tf.transpose(tf.matmul(weights, value), (0, 2, 1, 3)), x.shape), "out", width)


def transformer(random: Any) -> tuple[Any, Any]:
    """A million weights: two layers, 128 wide, sequences of 64 words out of 5,000."""
    import tensorflow.compat.v1 as tf

    words = random.randint(0, 5000, (32, 64))
    fed = tf.placeholder(tf.int32, words.shape)
    x = tf.nn.embedding_lookup(tf.get_variable("embedding", (5000, 128)), fed)
    for layer in range(2):
        with tf.variable_scope(f"layer_{layer}"):
            x = x + attention(x, 4)
            x = x + dense(dense(x, "wide", 512, tf.nn.relu), "narrow", 128)
    return {fed: words}, dense(tf.reduce_mean(x, 1), "logits", 10)


def mlp(random: Any) -> tuple[Any, Any]:
    """670,000 weights, and steps of a few milliseconds."""
    import tensorflow.compat.v1 as tf

    rows = random.random_sample((64, 784)).astype("float32")
    x = tf.placeholder(tf.float32, rows.shape)
    return {x: rows}, dense(dense(dense(x, "first", 512, tf.nn.relu), "second", 512, tf.nn.relu), "logits", 10)


def program(build: Callable[[Any], Any]) -> tuple[Callable[[int], None], Callable[[bool], None]]:
    import numpy as np
    import tensorflow.compat.v1 as tf

    module = sys.modules["trainwarden.tf_sessions.attach"]
    tf.disable_eager_execution()
    tf.set_random_seed(1)
    random = np.random.RandomState(1)
    feeds, logits = build(random)
    labels = tf.constant(random.randint(0, 10, int(logits.shape[0])))
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits), name="loss")
    train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_or_create_global_step())
    monitored = tf.train.MonitoredSession()
    session = module._session

    def train(steps: int) -> None:
        for _ in range(steps):
            monitored.run([loss, train_op], feeds)

    def follow(is_followed: bool) -> None:
        module._session = session if is_followed else None

    return train, follow


if __name__ == "__main__":
    models = (cnn, transformer, mlp)
    in_turns.main(__doc__, {build.__name__: functools.partial(program, build) for build in models})
