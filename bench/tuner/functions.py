"""The functions of test_functions.cc a second time, with the same shifts and rotations."""
import math
from collections.abc import Sequence

import numpy as np

HARTMANN_HEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
HARTMANN_SCALES = np.array([[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8],
                            [17, 8, 0.05, 10, 0.1, 14]])
HARTMANN_PLACES = 1e-4 * np.array([[1312, 1696, 5569, 124, 8283, 5886], [2329, 4135, 8307, 3736, 1004, 9991],
                                   [2348, 1451, 3522, 2883, 3047, 6650], [4047, 8828, 8732, 5743, 1091, 381]])
HARTMANN_BEST = [0.20168951265373836, 0.15001069352077226, 0.4768739729250998, 0.2753324304940561, 0.31165161660077114,
                 0.6573005340653495]


def branin(x: np.ndarray) -> float:
    bend = x[1] - 5.1 / (4 * math.pi**2) * x[0]**2 + 5 / math.pi * x[0] - 6
    return float(bend**2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x[0]) + 10)


def hartmann6(x: np.ndarray) -> float:
    return float(-HARTMANN_HEIGHTS @ np.exp(-(HARTMANN_SCALES * (x - HARTMANN_PLACES)**2).sum(axis=1)))


def ackley(x: np.ndarray) -> float:
    return float(-20 * np.exp(-0.2 * np.sqrt(np.mean(x**2))) - np.exp(np.mean(np.cos(2 * math.pi * x))) + 20 + math.e)


def rosenbrock(x: np.ndarray) -> float:
    return float(np.sum(100 * (x[1:] - x[:-1]**2)**2 + (1 - x[:-1])**2))


def levy(x: np.ndarray) -> float:
    w = 1 + (x - 1) / 4
    middle = np.sum((w[:-1] - 1)**2 * (1 + 10 * np.sin(math.pi * w[:-1] + 1)**2))
    return float(math.sin(math.pi * w[0])**2 + middle + (w[-1] - 1)**2 * (1 + math.sin(2 * math.pi * w[-1])**2))


# name: formula, lower ends, upper ends, the place of its minimum
FORMULAS = {
    "branin": (branin, [-5, 0], [10, 15], [math.pi, 2.275]),
    "hartmann6": (hartmann6, [0] * 6, [1] * 6, HARTMANN_BEST),
    "ackley5": (ackley, [-25.468] * 5, [40.068] * 5, [0] * 5),
    "rosenbrock4": (rosenbrock, [-5] * 4, [10] * 4, [1] * 4),
    "levy5": (levy, [-10] * 5, [10] * 5, [1] * 5),
}


class ShiftNumbers:
    """splitmix64, and normal numbers by Box and Muller."""

    def __init__(self, seed: int) -> None:
        self.state = seed

    def uniform(self) -> float:
        mask = 2**64 - 1
        self.state = z = (self.state + 0x9e3779b97f4a7c15) & mask
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9 & mask
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb & mask
        return ((z ^ (z >> 31)) >> 11) * 2.0**-53

    def normal(self) -> float:
        length = math.sqrt(-2 * math.log(1 - self.uniform()))
        return length * math.cos(2 * math.pi * self.uniform())


class SearchedFunction:
    """One function, shifted and rotated where there is a seed."""

    def __init__(self, name: str, shift_seed: int | None) -> None:
        self.formula, low, high, best = FORMULAS[name]
        self.low, self.high, self.best = (np.array(each, dtype=float) for each in (low, high, best))
        self.rotation = np.eye(len(best))
        self.place = self.best
        self.minimum = self.formula(self.best)
        if shift_seed is not None:
            self.shift(ShiftNumbers(shift_seed))

    def shift(self, numbers: ShiftNumbers) -> None:
        count = len(self.best)
        parts = np.array([0.1 + 0.8 * numbers.uniform() for _ in range(count)])
        self.place = self.low + parts * (self.high - self.low)
        rows = np.array([[numbers.normal() for _ in range(count)] for _ in range(count)])
        for i, row in enumerate(rows):
            for before in rows[:i]:
                row -= (row @ before) * before
            row /= np.linalg.norm(row)
        self.rotation = rows

    def value(self, x: Sequence[float] | np.ndarray) -> float:
        return self.formula(self.best + self.rotation @ (np.asarray(x) - self.place))

    def regret(self, x: Sequence[float] | np.ndarray) -> float:
        return max(0.0, self.value(x) - self.minimum)
