"""Uncommon ways to run a graph, which must go on to work."""

import tempfile
import threading

import graphs
import tensorflow.compat.v1 as tf

tf.logging.set_verbosity(tf.logging.ERROR)
tf.disable_v2_behavior()
tf.set_random_seed(1)
loss, train, gradients = graphs.classic()
hidden = tf.get_default_graph().get_tensor_by_name("hidden/Relu:0")
queue = tf.FIFOQueue(10, tf.float32)
put, taken = queue.enqueue(tf.random_uniform([])), queue.dequeue()


def fill(session):
    for _ in range(5):
        session.run(put)


with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    thread = threading.Thread(target=fill, args=(session,))
    thread.start()
    fed = graphs.fed(0)
    print(sorted(session.run({"a": [loss, (train,)], "b": hidden, "c": gradients[0]}, fed)))
    print(session.run(loss, {**fed, hidden: session.run(hidden, fed) * 0}))  # fed in the middle
    print(session.run([hidden, train], {**fed, gradients[0][0]: session.run(gradients[0][0], fed)})[1])
    print(session.run(loss, {loss: 3.0}))
    handle = session.partial_run_setup([hidden, loss], list(fed))
    print(session.partial_run(handle, hidden, {"x:0": fed["x:0"]}).shape)
    print(session.make_callable(loss, ["x:0", "y:0"])(*fed.values()).shape)
    try:
        session.run(train)
    except tf.errors.InvalidArgumentError as error:
        print("not fed:", "placeholder" in str(error))
    print(session.run([loss, train], fed, tf.RunOptions(trace_level=tf.RunOptions.NO_TRACE), tf.RunMetadata())[1])
    thread.join()
    with tempfile.TemporaryDirectory() as folder:
        path = tf.train.Saver().save(session, f"{folder}/model")
        with tf.Graph().as_default(), tf.Session() as other:
            tf.train.import_meta_graph(f"{path}.meta").restore(other, path)
            values = other.run([train.name, loss.name, gradients[0][0].name], fed)
            print("imported", values[1])
