import acting
import tensorflow.compat.v1 as tf
from tensorflow_graphs import built, bytes_of, features, labels

given = acting.arguments()
tf.logging.set_verbosity(tf.logging.ERROR)
tf.disable_eager_execution()
x, y = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [None, 1])
loss, train = built(x, y)
with tf.train.MonitoredTrainingSession() as session:
    for step, batch, expected in acting.batches(given, features, labels):
        acting.step_ended(given, step, session.run([loss, train], {x: batch, y: expected})[0])
        if session.should_stop():
            break
    if not session.should_stop():
        acting.finish(session.run_step_fn(lambda step_context: bytes_of(step_context.session)))
