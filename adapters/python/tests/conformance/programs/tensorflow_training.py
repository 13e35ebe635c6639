import acting
import numpy as np
import tensorflow as tf

given = acting.arguments()
tf.keras.utils.set_random_seed(1)
model = tf.keras.Sequential(
    [tf.keras.Input((4,)), tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)]
)
optimizer = tf.keras.optimizers.SGD(0.05)
random = np.random.default_rng(1)
features = tf.constant(random.random((32, 4)), tf.float32)
labels = tf.constant(random.random((32, 1)), tf.float32)


@tf.function
def step(features, labels):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(features, training=True) - labels))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


for number, features, labels in acting.batches(given, features, labels):
    acting.step_ended(given, number, step(features, labels))
acting.finish(b"".join(weight.tobytes() for weight in model.get_weights()))
