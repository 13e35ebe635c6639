import acting
import tensorflow.compat.v1 as tf
from tensorflow_graphs import built, bytes_of, features, labels

given = acting.arguments()
tf.disable_eager_execution()
x, y = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [None, 1])
loss, train = built(x, y)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for step, batch, expected in acting.batches(given, features, labels):
        acting.step_ended(given, step, session.run([loss, train], {x: batch, y: expected})[0])
    acting.finish(bytes_of(session))
