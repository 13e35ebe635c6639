"""Boosted trees, written with the Python Hook API under the names of smdebug's hook for XGBoost; with --fault too deep.

rule: TreeDepth
within: 20
names: trees/Node
"""

import sys

import numpy

import trainwarden

DEPTH = 7 if "--fault" in sys.argv else 3
FEATURES, SAMPLES, ROUNDS, RATE = 5, 400, 20, 0.3


class Tree:
    """A regression tree that halves the squared error as best it can, one feature and median at a time."""

    def __init__(self, samples: numpy.ndarray, targets: numpy.ndarray, depth: int) -> None:
        self.nodes: "dict[int, tuple[int, float]]" = {}
        self.leaves: "dict[int, float]" = {}
        self._grow(0, samples, targets, depth)

    def _grow(self, node: int, samples: numpy.ndarray, targets: numpy.ndarray, depth: int) -> None:
        splits = [(feature, float(numpy.median(samples[:, feature]))) for feature in range(samples.shape[1])]
        gains = [self._gain(samples[:, feature] <= limit, targets) for feature, limit in splits]
        if depth == 0 or max(gains) <= 0:
            self.leaves[node] = float(targets.mean())
            return
        feature, limit = self.nodes[node] = splits[int(numpy.argmax(gains))]
        left = samples[:, feature] <= limit
        self._grow(2 * node + 1, samples[left], targets[left], depth - 1)
        self._grow(2 * node + 2, samples[~left], targets[~left], depth - 1)

    @staticmethod
    def _gain(left: numpy.ndarray, targets: numpy.ndarray) -> float:
        if left.all() or not left.any():
            return 0.0
        return float(targets.var() - left.mean() * targets[left].var() - (~left).mean() * targets[~left].var())

    def predict(self, sample: numpy.ndarray) -> float:
        node = 0
        while node in self.nodes:
            feature, limit = self.nodes[node]
            node = 2 * node + (1 if sample[feature] <= limit else 2)
        return self.leaves[node]


random = numpy.random.default_rng(1)
samples = random.normal(size=(SAMPLES, FEATURES))
targets = samples[:, 0] + numpy.sin(3 * samples[:, 1]) + 0.3 * random.normal(size=SAMPLES)
predictions = numpy.zeros(SAMPLES)
ids: "list[int]" = []
with trainwarden.Hook.from_environment() as hook:
    nodes = hook.declare("trees/Node", ["trees"])
    for _ in range(ROUNDS):
        tree = Tree(samples, targets - predictions, DEPTH)
        predictions += RATE * numpy.array([tree.predict(sample) for sample in samples])
        ids += [*tree.nodes, *tree.leaves]
        hook.save_tensor(nodes, numpy.array(ids))
        hook.save_scalar("train-rmse", float(numpy.sqrt(((targets - predictions) ** 2).mean())))
        hook.step()
