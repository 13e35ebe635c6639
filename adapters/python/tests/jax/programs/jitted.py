"""Prints all that a jitted function is. It is the same when the program is watched."""

import copy
import functools
import inspect
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import jit

PjitFunction = type(getattr(jax.jit, "_trainwarden_jax_original", jax.jit)(lambda x: x))


def double(values, factor=2, *, shift=0.0):
    """Doubles."""
    return values * factor + shift


double.mark = "kept"
fast = jit(double, static_argnames="factor")


class Scaled:
    def __init__(self, scale):
        self.scale = scale

    @functools.partial(jax.jit, static_argnums=0)
    def __call__(self, values):
        return values * self.scale

    @jit
    def of_no_self(values):
        return values + 1


@jax.jit(static_argnums=1)
def decorated(values, times):
    return values * times


ones = jnp.ones(3)
print(isinstance(fast, PjitFunction), isinstance(fast, jax.stages.Wrapped), callable(fast))
print(fast.__name__, fast.__doc__, fast.__module__, fast.__qualname__, fast.mark, fast.__wrapped__ is double)
print(inspect.signature(fast), inspect.unwrap(fast) is double, repr(fast).split(" at ")[0])
print(fast(ones), fast(ones, factor=3), fast(ones, 4, shift=1.0), fast._cache_size())
print(fast.lower(ones).as_text()[:30], fast.lower(ones).compile()(ones), fast.eval_shape(ones))
print(fast.trace(ones).jaxpr)
fast.clear_cache()
print(fast._cache_size(), Scaled(3)(ones), Scaled.of_no_self(ones), decorated(ones, 2))
print(jax.vmap(fast)(ones), jax.grad(lambda x: fast(x).sum())(ones), jax.jit(fast)(ones), jax.make_jaxpr(fast)(ones))
print(sorted(name for name in dir(fast) if not name.startswith("_trainwarden") and not name.startswith("__")))
print(hash(fast) == hash(fast), fast == fast, fast != double)
try:
    pickle.dumps(jit(lambda x: x))
except Exception as error:
    print(type(error).__name__)
print(copy.copy(decorated)(ones, 5), functools.partial(fast, factor=7)(ones))
for wrong in (lambda: jit(1), lambda: fast(), lambda: jit(double, static_argnums=9)(ones), lambda: jax.grad(fast)(ones)):
    try:
        wrong()
    except Exception as error:
        print(type(error).__name__, str(error).splitlines()[0][:120])
with jax.disable_jit():
    print(fast(ones))

params = {"w": jnp.ones((2, 2))}
optimizer = optax.adam(0.1)
state = optimizer.init(params)


@functools.partial(jax.jit, donate_argnums=(0, 1))
def step(params, state):
    gradients = jax.grad(lambda params: (params["w"] ** 2).sum())(params)
    updates, state = optimizer.update(gradients, state)
    return optax.apply_updates(params, updates), state


compiled = step.lower(params, state).compile().as_text()
print([line.split(", metadata")[0] for line in compiled.splitlines() if " = " in line and "stack_frame" not in line])
before = params
for _ in range(4):
    params, state = step(params, state)
print(before["w"].is_deleted(), np.asarray(params["w"]).tobytes().hex(), step._cache_size() > 0)
print(type(optimizer).__name__, inspect.signature(optimizer.update), inspect.signature(jax.grad), jax.jit.__name__)
print(jax.value_and_grad(lambda x: (x**2, "kept"), has_aux=True)(3.0), jax.grad(lambda x: (x**2, 1), has_aux=True)(3.0))
print(jax.grad(lambda a, b: a * b, argnums=(0, 1))(2.0, 3.0), jax.grad(jax.grad(lambda x: x**3))(2.0))
