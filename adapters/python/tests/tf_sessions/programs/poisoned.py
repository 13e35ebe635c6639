"""Six batches, and before the fourth one without numbers, where the command line does not leave that out. Says what the
others gave and what all variables are in the end."""

import hashlib
import sys

import graphs
import numpy as np
import tensorflow.compat.v1 as tf

way, ways = sys.argv[1], sys.argv[2:]
tf.logging.set_verbosity(tf.logging.ERROR)
if "old" in ways:
    tf.disable_v2_behavior()
tf.disable_eager_execution()
tf.set_random_seed(1)


def adam():
    """Slots, a rate that decays, moving averages, and a metric."""
    x, y = graphs.placeholders()
    h = tf.layers.dense(x, 16, activation=tf.nn.relu, name="hidden", kernel_initializer=graphs.kernel(8, 16))
    h = tf.layers.batch_normalization(h, training=True, name="norm")
    outputs = tf.layers.dense(h, 1, name="out", kernel_initializer=graphs.kernel(16, 1))
    loss = tf.losses.mean_squared_error(y, outputs)
    steps = tf.train.get_or_create_global_step()
    optimizer = tf.train.AdamOptimizer(tf.train.exponential_decay(0.01, steps, 2, 0.5))
    _, mean = tf.metrics.mean(y)
    with tf.control_dependencies([mean, *tf.get_collection(tf.GraphKeys.UPDATE_OPS)]):
        return loss, optimizer.minimize(loss, steps), None


def shared():
    """Two variables with one first value, and one that nobody trains."""
    x, y = graphs.placeholders()
    first = tf.constant(np.full((8, 1), 0.1, "float32"))
    with tf.variable_scope("net"):
        a, b = (tf.get_variable(name, initializer=first) for name in "ab")
        fixed = tf.get_variable("fixed", initializer=first, trainable=False)
    loss = tf.reduce_mean(tf.square(tf.matmul(x, a) * tf.matmul(x, b) + tf.matmul(x, fixed) - y), name="loss")
    return loss, tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss), None


def scaled():
    """A loss that is too large for its scale."""
    x, y = graphs.placeholders()
    loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1, kernel_initializer=graphs.kernel(8, 1)) - y), name="loss")
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    scale = tf.mixed_precision.DynamicLossScale(2.0**126, increment_period=100, multiplier=2.0**20)
    return loss, tf.mixed_precision.MixedPrecisionLossScaleOptimizer(optimizer, scale).minimize(loss), None


def turns():
    """Two optimizers, as in a GAN: both have the batch."""
    x, y = graphs.placeholders()
    first = tf.layers.dense(x, 4, name="first", kernel_initializer=graphs.kernel(8, 4))
    last = tf.layers.dense(first, 1, name="last", kernel_initializer=graphs.kernel(4, 1))
    loss = tf.reduce_mean(tf.square(last - y), name="loss")
    train = tf.train.AdamOptimizer(0.1).minimize(loss, var_list=tf.trainable_variables("first"))
    return loss, train, tf.train.AdamOptimizer(0.1).minimize(loss, var_list=tf.trainable_variables("last"))


def counted():
    """A table that counts batches: no variable."""
    loss, train, _ = adam()
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, -1)
    insert = table.insert(tf.constant([1], tf.int64), tf.constant([1], tf.int64))
    return loss, tf.group(train, insert), None


def fed_batches():
    for step in range(6):
        if step == 3 and "leave_out" not in ways:
            yield False, {"x:0": graphs.batches[3], "y:0": np.full((16, 1), np.nan, "float32")}
        yield True, graphs.fed(step)


def hashes(session):
    variables = [*tf.global_variables(), *tf.local_variables()]
    for variable, value in zip(variables, session.run(variables)):
        print(variable.op.name, np.isfinite(value).all(), hashlib.sha256(value.tobytes()).hexdigest()[:12])


def target():
    """A server of its own, as a cluster has them."""
    return tf.distribute.Server.create_local_server().target if "served" in ways else ""


makers = {"adam": adam, "shared": shared, "scaled": scaled, "turns": turns, "counted": counted}
loss, train, other = (makers.get(way) or getattr(graphs, way))()
with tf.Session(target()) as session:
    session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    count = len(session.graph.get_operations())
    call = session.make_callable([loss, train], ["x:0", "y:0"]) if way == "shared" else None
    for is_good, fed in fed_batches():
        value = (call(*fed.values()) if call else session.run([loss, train], fed))[0]
        if way == "turns":
            session.run(other, fed)
        if is_good:
            print("loss", repr(float(value)))
    hashes(session)
    print("operations", len(session.graph.get_operations()) - count)
