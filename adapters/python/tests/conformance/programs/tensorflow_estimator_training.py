import tempfile

import acting
import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow_graphs import bias, features, hidden, labels, out

given = acting.arguments()
tf.logging.set_verbosity(tf.logging.ERROR)


class Ended(tf.train.SessionRunHook):
    step = 0

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(tf.get_default_graph().get_tensor_by_name("loss/value:0"))

    def after_run(self, run_context, run_values):
        acting.step_ended(given, self.step, run_values.results)
        self.step += 1


def network(features, labels, mode):
    with tf.variable_scope("hidden"):
        h = tf.nn.relu(tf.matmul(features["x"], tf.get_variable("kernel", initializer=hidden)) + bias(8))
    with tf.variable_scope("out"):
        outputs = tf.matmul(h, tf.get_variable("kernel", initializer=out)) + bias(1)
    loss = tf.losses.mean_squared_error(labels, outputs, scope="loss")
    train = tf.train.MomentumOptimizer(0.05, 0.9).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)


def batches():
    found = list(acting.batches(given, features, labels))
    all_features, all_labels = (np.stack([each[place] for each in found]) for place in (1, 2))
    return tf.data.Dataset.from_tensor_slices(({"x": all_features}, all_labels))


with tempfile.TemporaryDirectory() as folder:
    estimator = tf.estimator.Estimator(network, folder)
    estimator.train(batches, steps=given.steps, hooks=[Ended()])
    names = [name for name in estimator.get_variable_names() if name.endswith(("kernel", "bias"))]
    acting.finish(b"".join(estimator.get_variable_value(name).tobytes() for name in names))
