"""Statistics that JAX computes are those of the elements, as far as float32 goes."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import trainwarden

jnp = pytest.importorskip("jax.numpy")
reducing = pytest.importorskip("trainwarden.jax.reducing")

INF, NAN = float("inf"), float("nan")
RANDOM = np.random.default_rng(5)
ARRAYS = {
    "normal": RANDOM.standard_normal((40, 7, 9)).astype(np.float32),
    "a million": RANDOM.random((1000, 1000), np.float32),
    "not finite": np.array([[1, NAN, INF], [-INF, 0, -2]], np.float32),
    "nothing finite": np.array([NAN, INF], np.float32),
    "scalar": np.float32(-3),
    "no elements": np.zeros((3, 0), np.float32),
    "integers": np.arange(-5, 20, dtype=np.int16),
}


@pytest.mark.parametrize("name", list(ARRAYS))
def test_they_are_those_of_the_elements(name: str, tmp_path: Path) -> None:
    array = ARRAYS[name]
    exact = trainwarden.compute_statistics(np.asarray(array, np.float32))
    with trainwarden.Hook(tmp_path / "run", save_all=True) as hook:
        hook.save_statistics("x", array.shape, **reducing.statistics_of(jnp.asarray(array)))
        hook.step()
        assert hook.report().losses == []
    found = trainwarden.open(tmp_path / "run").statistics("x", 0)
    assert found.approximate
    for count in ("count", "nan_count", "positive_inf_count", "negative_inf_count", "zero_count"):
        assert getattr(found, count) == getattr(exact, count), count
    for number in ("min", "max", "abs_min", "abs_max"):
        assert getattr(found, number) == pytest.approx(getattr(exact, number), rel=0, nan_ok=True), number
    for number in ("sum", "mean", "std", "l1", "l2"):
        assert getattr(found, number) == pytest.approx(getattr(exact, number), rel=1e-5, abs=1e-5, nan_ok=True), number


def test_sums_that_float32_does_not_hold_are_infinite(tmp_path: Path) -> None:
    given = reducing.statistics_of(jnp.full(8, 1e30, jnp.float32))
    assert given["square_sum"] == INF and given["max"] == pytest.approx(1e30)
    with trainwarden.Hook(tmp_path / "run", save_all=True) as hook:
        hook.save_statistics("x", (8,), **given)
        hook.step()
    found = trainwarden.open(tmp_path / "run").statistics("x", 0)
    assert found.l2 == INF and found.std == INF and found.mean == pytest.approx(1e30)


def test_what_has_no_such_statistics_is_left_alone() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not reducing.can_reduce(jnp.zeros(2, jnp.complex64))
        assert not reducing.can_reduce(jnp.zeros(2, bool))
        assert reducing.can_reduce(jnp.zeros(2, jnp.int4))
