"""The Keras that KERAS_PACKAGE names, what the programs train on, and what they say when they end."""

import hashlib
import importlib
import importlib.metadata
import os

import numpy as np

package = os.environ.get("KERAS_PACKAGE", "keras")
is_keras_2 = importlib.metadata.version(package).startswith("2.")
# XLA makes a product and a sum one operation, rounded once, where both are in one loop; not for such a processor. TensorFlow
# takes other operations where a value is used once and where it is used twice. In which programs either shows depends on the
# processor.
if not is_keras_2:  # whose XLA knows no such flag
    os.environ["XLA_FLAGS"] = "--xla_cpu_max_isa=SSE4_2"
keras = importlib.import_module(package)
layers = keras.layers
if is_keras_2 or keras.backend.backend() == "tensorflow":
    import tensorflow as tf

    tf.config.optimizer.set_experimental_options({"arithmetic_optimization": False})


def images(count=96):
    random = np.random.default_rng(0)
    return random.random((count, 8, 8, 1)).astype("float32"), random.integers(0, 3, count)


def numbers(count=96):
    random = np.random.default_rng(0)
    features = random.random((count, 4)).astype("float32")
    return features, (features @ np.array([[1.0], [-2.0], [0.5], [3.0]], "float32"))


def sequences(count=96):
    random = np.random.default_rng(0)
    words = random.integers(0, 20, (count, 6))
    return words, (words[:, :1] > 9).astype("float32")


def say(*models):
    """The bytes of the weights, and how often optimizers stepped."""
    for model in models:
        digest = hashlib.sha256(b"".join(np.asarray(weight).tobytes() for weight in model.get_weights())).hexdigest()
        print("weights", digest)
        iterations = model.optimizer.iterations
        print("iterations", int(iterations.numpy() if is_keras_2 else keras.ops.convert_to_numpy(iterations)))
