import acting
import numpy as np
import tf_keras

given = acting.arguments()
tf_keras.utils.set_random_seed(1)
model = tf_keras.Sequential(
    [tf_keras.Input((4,)), tf_keras.layers.Dense(8, activation="relu"), tf_keras.layers.Dense(1)]
)
model.compile(optimizer=tf_keras.optimizers.SGD(0.05), loss="mean_squared_error")
random = np.random.default_rng(1)
features, labels = random.random((32, 4)).astype("float32"), random.random((32, 1)).astype("float32")
for number, features, labels in acting.batches(given, features, labels):
    acting.step_ended(given, number, model.train_on_batch(features, labels, reset_metrics=True))
acting.finish(b"".join(weight.tobytes() for weight in model.get_weights()))
