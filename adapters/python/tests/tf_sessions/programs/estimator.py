"""tf.estimator, used in a way that the command line names."""

import os
import sys
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

import trainwarden

way = sys.argv[1]
tf.logging.set_verbosity(tf.logging.ERROR)
random = np.random.RandomState(1)
features = random.rand(80, 6).astype("float32")
labels = (features.sum(1) > 3).astype("int32")
first, last = random.normal(0, 0.3, (6, 12)).astype("float32"), random.normal(0, 0.3, (12, 2)).astype("float32")


def layer(inputs, name, kernel, activation=None):
    width = kernel.shape[1]
    return tf.layers.dense(
        inputs, width, activation=activation, name=name, kernel_initializer=tf.constant_initializer(kernel)
    )


def network(features, labels, mode):
    logits = layer(layer(features["x"], "hidden", first, tf.nn.relu), "logits", last)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"probabilities": tf.nn.softmax(logits)})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits) + 0.01 * tf.nn.l2_loss(logits)
    if mode == tf.estimator.ModeKeys.TRAIN:
        train = tf.train.AdamOptimizer(1e-2).minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)
    accuracy = tf.metrics.accuracy(labels, tf.argmax(logits, 1))
    return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={"accuracy": accuracy})


def batches():
    return tf.data.Dataset.from_tensor_slices(({"x": features}, labels)).batch(16)


class Asking(tf.train.SessionRunHook):
    steps = 0

    def after_run(self, run_context, run_values):
        self.steps += 1
        if self.steps == 3:
            trainwarden.stop(os.environ["TRAINWARDEN_RUN_DIR"], wait=False)


def say(metrics):
    print({name: repr(float(value)) for name, value in sorted(metrics.items())})


def own(folder, strategy=None):
    devices = tf.ConfigProto(device_count={"CPU": 2})
    config = tf.estimator.RunConfig(folder, tf_random_seed=1, train_distribute=strategy, session_config=devices)
    return tf.estimator.Estimator(network, config=config)


def canned(folder):
    columns = [tf.feature_column.numeric_column("x", shape=(6,))]
    return tf.estimator.DNNClassifier([8], columns, model_dir=folder)


def of_keras(folder):
    layers = [tf.keras.layers.Input((6,), name="x"), tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(2)]
    model = tf.keras.Sequential(layers)
    model.compile(optimizer="adam", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return tf.keras.estimator.model_to_estimator(model, model_dir=folder)


with tempfile.TemporaryDirectory() as folder:
    if way == "both":
        spec = tf.estimator.TrainSpec(lambda: batches().repeat(), max_steps=12)
        metrics, _ = tf.estimator.train_and_evaluate(own(folder), spec, tf.estimator.EvalSpec(batches, steps=3))
        say(metrics)
    elif way in ("canned", "keras"):
        estimator = canned(folder) if way == "canned" else of_keras(folder)
        estimator.train(batches)
        print(sorted(estimator.evaluate(batches)))
    elif way == "stopped":
        estimator = own(folder)
        estimator.train(lambda: batches().repeat(), hooks=[Asking()], steps=5000)
        print("trained", estimator.get_variable_value("global_step") < 5000, estimator.latest_checkpoint() is not None)
        estimator.evaluate(batches)
        print("predicted", len(list(estimator.predict(batches))))
        estimator.train(batches)
        print("trained again")
    elif way == "mirrored":
        own(folder, tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])).train(batches)
    else:
        estimator = own(folder)
        for _ in range(2):
            estimator.train(batches)
            say(estimator.evaluate(batches, steps=3))
        for prediction in estimator.predict(batches):
            print(prediction["probabilities"])
