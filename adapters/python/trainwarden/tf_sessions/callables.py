"""Callables: graphs that are run by Session.make_callable(), or by Keras in its graph mode, which makes its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

from .. import faults
from .session import GraphSession

Current = Callable[[], Optional[GraphSession]]


def following_callables(current: Current, original: Callable[..., Any]) -> Callable[..., Any]:
    """make_callable(): what it makes calls run() where something is fed, and here as well where nothing is."""

    def make_callable(self: Any, fetches: Any, feed_list: Any = None, accept_options: bool = False) -> Any:
        own = original(self, fetches, feed_list, accept_options)
        if feed_list is not None:
            return own

        def call(*args: Any, **kwargs: Any) -> Any:
            session = current()
            if session is None or not session.is_ours() or args or (kwargs and not accept_options):
                return own(*args, **kwargs)
            return self.run(fetches, **kwargs)

        return call

    return make_callable


def following_options(current: Current, original: Callable[..., Any]) -> Callable[..., Any]:
    """_make_callable_from_options(): Keras trains by that behind disable_eager_execution()."""

    def _make_callable_from_options(self: Any, options: Any) -> Any:
        own = original(self, options)
        made = None if current() is None else _followed(current, original, self, own, options)
        return own if made is None else made

    return _make_callable_from_options


def saying_what_is_not_seen(current: Current, original: Callable[..., Any]) -> Callable[..., Any]:
    """partial_run_setup(): parts of a step have no order that is known before."""

    def partial_run_setup(self: Any, *args: Any, **kwargs: Any) -> Any:
        if current() is not None:
            faults.say_once("what a program runs by Session.partial_run() is not captured")
        return original(self, *args, **kwargs)

    return partial_run_setup


@faults.guarded("follow a function of Keras in graph mode")
def _followed(current: Current, make: Callable[..., Any], session: Any, own: Any, options: Any) -> FollowedCallable:
    return FollowedCallable(current, make, session, own, options)


class FollowedCallable:
    """In the place of one: calls are runs of the session. What is wanted of a run is fetched by another callable, which
    has the same feeds and targets."""

    def __init__(self, current: Current, make: Callable[..., Any], session: Any, own: Any, options: Any) -> None:
        self._current = current
        self._make = make
        self._session = session
        self._options = options
        element = session.graph.as_graph_element
        self._targets = [element(name) for name in options.target]
        self._fetches = [element(name) for name in options.fetch]
        fed = [*options.feed, *(each.to_tensor for each in options.tensor_connection)]
        self._feeds = {element(name).ref(): None for name in fed}
        self._with: dict[tuple[str, ...], Any] = {tuple(options.fetch): own}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        def run(session: Any, handle: Any, targets: Any, fetches: Any, *rest: Any) -> Any:
            if targets is not self._targets:  # variables are read
                return session._do_run(handle, targets, fetches, *rest)
            return self._fetching(fetches)(*args, **kwargs)

        session = self._current()
        if session is None:
            return run(self._session, None, self._targets, self._fetches)
        return session.run(run, self._session, self._targets, self._fetches, self._feeds, None, None)

    def _fetching(self, tensors: list[Any]) -> Any:
        names = tuple(tensor.name for tensor in tensors)
        if names not in self._with:
            options = type(self._options)()
            options.CopyFrom(self._options)
            options.ClearField("fetch")
            options.fetch.extend(names)
            self._with[names] = self._make(self._session, options)
        return self._with[names]
