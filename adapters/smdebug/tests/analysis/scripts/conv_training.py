"""A training whose first layer is named as Gluon names it, for the notebook of real-time analysis.

python conv_training.py FOLDER COLLECTION, the latter as JSON of a hook's configuration. It trains a hundred steps for
each line on its standard input, and answers with a line when they are on the disk; after the last ones it ends.
"""

import json
import sys

import numpy as np
import trainwarden

STEPS, CHUNK = 500, 100


def arrays(step):
    """What the layer has at a step. The picture of the batch's first element says which step it is."""
    random = np.random.default_rng(step)
    output = random.random((4, 2, 5, 5), dtype=np.float32)
    output[0][0] = step
    return {
        "conv0_weight": np.full((3, 1, 2, 2), step / 1000, dtype=np.float32) + np.arange(3).reshape(3, 1, 1, 1),
        "conv0_bias": np.zeros(3, dtype=np.float32),
        "conv0_input_0": random.random((4, 1, 6, 6), dtype=np.float32),
        "conv0_output_0": output,
        "conv0_relu_input_0": output,
        "conv0_relu_output_0": np.maximum(output, 0),
        "gradient/conv0_weight": random.random((3, 1, 2, 2), dtype=np.float32),
        "gradient/conv0_bias": random.random(3, dtype=np.float32),
        "dense0_weight": random.random((2, 2), dtype=np.float32),
    }


def main():
    folder, configured = sys.argv[1], json.loads(sys.argv[2])
    parameters = configured["CollectionParameters"]
    collection = trainwarden.Collection(
        configured["CollectionName"],
        include=[parameters["include_regex"]],
        save=trainwarden.SaveSchedule(save_interval=int(parameters["save_interval"])),
    )
    with trainwarden.Hook(folder, collections=[collection]) as hook:
        hook.set_mode("train")
        for step in range(STEPS):
            if step % CHUNK == 0:
                sys.stdin.readline()
            for name, array in arrays(step).items() if step % CHUNK == 0 else ():
                hook.save_tensor(name, array)
            hook.step()
            if step % CHUNK == CHUNK - 1 and step != STEPS - 1:
                hook.flush()
                print("written", flush=True)
    print("ended", flush=True)


main()
