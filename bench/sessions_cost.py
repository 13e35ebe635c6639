"""What capture costs a loop over sessions of TensorFlow 1, as bench/keras_cost.py says it of Keras, in processor time.

    TF_NUM_INTRAOP_THREADS=1 TF_NUM_INTEROP_THREADS=1 PYTHON bench/sessions_cost.py [--pairs 5] [--model mlp|cnn]

PYTHON has TensorFlow and the package trainwarden.
"""

from __future__ import annotations

import keras_cost

PROGRAM = """
import statistics, sys, time
import numpy as np
import tensorflow.compat.v1 as tf
tf.disable_eager_execution()
tf.set_random_seed(1)
name, steps = sys.argv[1], int(sys.argv[2])
random = np.random.RandomState(1)
def variable(name, *shape):
    return tf.get_variable(name, initializer=random.normal(0, 0.05, shape).astype("float32"))
def dense(inputs, scope, width, activation=tf.nn.relu):
    with tf.variable_scope(scope):
        return activation(tf.matmul(inputs, variable("kernel", int(inputs.shape[1]), width)) + variable("bias", width))
def conv(inputs, scope, width):
    with tf.variable_scope(scope):
        kernel = variable("kernel", 3, 3, int(inputs.shape[3]), width)
        outputs = tf.nn.relu(tf.nn.conv2d(inputs, kernel, padding="VALID") + variable("bias", width))
    return tf.nn.max_pool2d(outputs, 2, 2, "VALID")
shape = (64, 784) if name == "mlp" else (64, 28, 28, 1)
x, y = tf.placeholder(tf.float32, shape), tf.placeholder(tf.int32, (64,))
if name == "mlp":
    hidden = dense(dense(x, "first", 512), "second", 512)
else:
    hidden = conv(conv(x, "first", 32), "second", 64)
    hidden = tf.reshape(hidden, (64, -1))
logits = dense(hidden, "logits", 10, tf.identity)
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits), name="loss")
train = tf.train.AdamOptimizer().minimize(loss)
features, labels = random.random_sample(shape).astype("float32"), random.randint(0, 10, 64)
times = []
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(steps):
        begin = time.process_time()
        session.run([loss, train], {x: features, y: labels})
        times.append(time.process_time() - begin)
print(statistics.median(times[len(times) // 2:]))
"""

if __name__ == "__main__":
    keras_cost.main(PROGRAM, __doc__)
