"""A MonitoredSession that ends by its global step, of which batches are without numbers: one of them, or all."""

import sys

import graphs
import numpy as np
import tensorflow.compat.v1 as tf

folder, steps, ways = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
tf.logging.set_verbosity(tf.logging.ERROR)
tf.disable_eager_execution()
x, y = graphs.placeholders()
loss = tf.reduce_mean(tf.square(tf.layers.dense(x, 1, kernel_initializer=graphs.kernel(8, 1)) - y), name="loss")
train = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss, tf.train.get_or_create_global_step())
hooks = [tf.train.NanTensorHook(loss), tf.train.StopAtStepHook(last_step=steps)]
runs = 0
with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, hooks=hooks, save_checkpoint_steps=2) as session:
    while not session.should_stop():
        fed = graphs.fed(runs % 6)
        if "all" in ways or (runs == 3 and "one" in ways):
            fed["y:0"] = np.full((16, 1), np.nan, "float32")
        session.run([loss, train], fed)
        runs += 1
saved = tf.train.load_checkpoint(folder)
values = [saved.get_tensor(name) for name in sorted(saved.get_variable_to_shape_map())]
finite = all(np.isfinite(value).all() for value in values)
print("runs", runs, "steps", saved.get_tensor("global_step"), "finite", finite)
