"""Which bar is it? A small convolutional network of tf.estimator learns to tell made-up pictures apart.

    python pictures.py [--num_epochs 2] [--lr 0.001]

With --lr 10 the network dies in its first steps: its gradients vanish.
"""

import argparse
import os
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

SIZE, BATCH = 28, 32


def pictures(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Noise with a bright bar: lying, standing, or both."""
    random = np.random.RandomState(seed)
    images, labels = 0.3 * random.rand(count, SIZE, SIZE, 1), random.randint(0, 3, count)
    for image, label in zip(images, labels):
        place = random.randint(SIZE)
        if label in (0, 2):
            image[place, :] += 0.7
        if label in (1, 2):
            image[:, place] += 0.7
    return images.astype("float32"), labels.astype("int32")


def network(features, labels, mode, params):
    hidden = tf.layers.conv2d(features["x"], 8, 5, activation=tf.nn.relu, name="conv0")
    hidden = tf.layers.max_pooling2d(hidden, 2, 2)
    hidden = tf.layers.conv2d(hidden, 16, 3, activation=tf.nn.relu, name="conv1")
    hidden = tf.layers.flatten(tf.layers.max_pooling2d(hidden, 2, 2))
    hidden = tf.layers.dense(hidden, 32, activation=tf.nn.relu, name="dense0")
    logits = tf.layers.dense(hidden, 3, name="logits")
    found = tf.argmax(logits, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"found": found})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train = tf.train.AdamOptimizer(params["rate"]).minimize(loss, tf.train.get_global_step())
    metrics = {"accuracy": tf.metrics.accuracy(labels, found)}
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train, eval_metric_ops=metrics)


def batches(count: int, seed: int) -> tf.data.Dataset:
    images, labels = pictures(count, seed)
    return tf.data.Dataset.from_tensor_slices(({"x": images}, labels)).shuffle(count, seed).batch(BATCH)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--num_epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=0.001)
    parser.add_argument("--model_dir", default=os.environ.get("SM_MODEL_DIR"))
    given, _ = parser.parse_known_args()
    tf.logging.set_verbosity(tf.logging.ERROR)
    folder = given.model_dir or tempfile.mkdtemp()
    estimator = tf.estimator.Estimator(network, folder, params={"rate": given.lr})
    for epoch in range(given.num_epochs):
        estimator.train(lambda: batches(8192, seed=1))
        metrics = estimator.evaluate(lambda: batches(512, seed=2))
        print(f"epoch {epoch}: accuracy {metrics['accuracy']:.3f}", flush=True)


if __name__ == "__main__":
    main()
