"""What capture costs a training of JAX: steps of the program's own function and of the watched one in turns, in one process.

    PYTHON bench/jax_cost.py [--model cnn|cnn_bare|transformer|mlp|small|cnn_ahead|transformer_ahead] [--pairs 30]

PYTHON has JAX, flax and optax and the package trainwarden. Prints a line of JSON for each way of capture (bench/in_turns.py says
which). The program reads its loss in each step; one that runs ahead waits for the last result of a block only, which shows
what it costs that the training thread waits for the tensors that it hands over.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import in_turns


def cnn(random: Any, has_norm: bool = True) -> tuple[Any, Any]:
    """270,000 weights, pictures of 32 x 32: the model, and a batch."""
    import flax.linen as nn

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            for width in (32, 64, 128):
                for _ in range(2):
                    x = nn.Conv(width, (3, 3))(x)
                    x = nn.relu(nn.GroupNorm(8)(x) if has_norm else x)
                x = nn.max_pool(x, (2, 2), (2, 2))
            return nn.Dense(10)(x.mean((1, 2)))

    return Net(), random.random((64, 32, 32, 3), "float32")


def transformer(random: Any) -> tuple[Any, Any]:
    """A million weights: two layers, 128 wide, sequences of 64 words out of 5,000."""
    import flax.linen as nn

    class Net(nn.Module):
        @nn.compact
        def __call__(self, words: Any) -> Any:
            x = nn.Embed(5000, 128)(words)
            for _ in range(2):
                x = nn.LayerNorm()(x + nn.MultiHeadDotProductAttention(num_heads=4)(x, x))
                x = nn.LayerNorm()(x + nn.Dense(128)(nn.gelu(nn.Dense(512)(x))))
            return nn.Dense(10)(x.mean(1))

    return Net(), random.integers(0, 5000, (32, 64))


def dense(random: Any, sizes: tuple[int, ...]) -> tuple[Any, Any]:
    """670,000 weights and steps of a few milliseconds, or 676 and steps of a fraction of one."""
    import flax.linen as nn

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            for size in sizes[1:-1]:
                x = nn.relu(nn.Dense(size)(x))
            return nn.Dense(sizes[-1])(x)

    return Net(), random.random((64, sizes[0]), "float32")


def program(
    build: Callable[[Any], tuple[Any, Any]], reads_loss: bool
) -> tuple[Callable[[int], None], Callable[[bool], None]]:
    import jax
    import numpy as np
    import optax

    random = np.random.default_rng(1)
    net, inputs = build(random)
    labels = random.integers(0, 4, len(inputs))
    optimizer = optax.adam(1e-3)

    def error(params: Any) -> Any:
        return optax.softmax_cross_entropy_with_integer_labels(net.apply({"params": params}, inputs), labels).mean()

    @jax.jit
    def step(params: Any, state: Any) -> Any:
        loss, gradients = jax.value_and_grad(error)(params)
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state, loss

    params = net.init(jax.random.key(0), inputs)["params"]
    now = [params, optimizer.init(params), step]

    def train(steps: int) -> None:
        params, state, run = now
        for _ in range(steps):
            params, state, loss = run(params, state)
            if reads_loss:
                float(loss)
        jax.block_until_ready((params, loss))
        now[:2] = params, state

    def follow(is_followed: bool) -> None:
        now[2] = step if is_followed else step._trainwarden_plain

    return train, follow


if __name__ == "__main__":
    programs = {}
    for build in (cnn, transformer):
        programs[build.__name__] = functools.partial(program, build, True)
        programs[f"{build.__name__}_ahead"] = functools.partial(program, build, False)
    programs["cnn_bare"] = functools.partial(program, functools.partial(cnn, has_norm=False), True)
    for name, sizes in (("mlp", (784, 512, 512, 10)), ("small", (16, 32, 4))):
        programs[name] = functools.partial(program, functools.partial(dense, sizes=sizes), True)
    in_turns.main(__doc__, programs)
