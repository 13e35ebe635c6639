"""Watch: between the functions that were replaced and the session."""

from __future__ import annotations

from typing import Any, Optional

import jax
from jax._src.core import trace_state_clean

from .. import faults
from .._owners import is_owned
from . import names, tags
from .jitted import Jitted
from .plans import Plan
from .session import Session
from .twins import Captured, Program
from .vetoing import Veto, veto_of

_RATE = "hyperparams/learning_rate"  # in the state of optax.inject_hyperparams


class Watch:
    """Of the process, while it is attached."""

    def __init__(self, run_dir: Optional[str]) -> None:
        self._run_dir = run_dir
        self._session = Session(run_dir)

    def call(self, jitted: Jitted, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call of a jitted function. What runs inside of another, or of a trainer that captures itself, is its own."""
        plain, program = jitted._trainwarden_plain, jitted._trainwarden_program
        if not self._is_outermost():
            return plain(*args, **kwargs)
        plan = self._known(jitted, args, kwargs)
        is_news = plan is None
        if is_news:
            plan = self._look(jitted, args, kwargs)
        if plan is not None and plan.calls_model and not plan.trains and self._session.is_training:
            return self._judge(jitted, args, kwargs, plan)
        if plan is None or not plan.trains:
            made = tags.made()
            result = plain(*args, **kwargs)
            if tags.made() != made:
                program.is_mixed = True  # what was traced now may be what trains
            return result
        kinds = self._session.begin_call(plan)
        veto = self._veto_of(program, plan, args, kwargs) if self._session.may_veto else None
        given = veto.arguments() if veto is not None and program.gives_away else (args, kwargs)
        result, captured = self._run(jitted, kinds, *given)
        result = self._session.end_call(plan, result, captured, veto)
        self._notice_traces(jitted, is_news, args, kwargs)
        return result

    @faults.guarded("hold the state of a step of JAX")
    def _veto_of(
        self, program: Program, plan: Plan, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Optional[Veto]:
        return veto_of(plan, program.carried, args, kwargs)

    def _judge(self, jitted: Jitted, args: tuple[Any, ...], kwargs: dict[str, Any], plan: Plan) -> Any:
        kinds = self._session.begin_judging(plan)
        if kinds is None:
            return jitted._trainwarden_plain(*args, **kwargs)
        result, captured = self._run(jitted, kinds, args, kwargs)
        self._session.end_judging(result, captured)
        return result

    def _run(
        self, jitted: Jitted, kinds: tuple[str, ...], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, Optional[Captured]]:
        """The function's result. Where tensors are wanted, its twin runs in its place, or beside it."""
        plain, program = jitted._trainwarden_plain, jitted._trainwarden_program
        others, captured, failure = None, None, None
        try:
            if kinds and program.has_twin:
                if not program.is_exact:
                    captured, spent_ns = program.call_beside(plain, kinds, args, kwargs)
                    self._session.add_cost(spent_ns)
                elif program.is_to_be_compared(kinds, args, kwargs):
                    others, captured = program.call_to_compare(plain, kinds, args, kwargs)
                else:
                    return program.call_twin(plain, kinds, args, kwargs)
        except Exception as error:
            failure = error
        result = plain(*args, **kwargs)  # what is wrong with the call it says itself
        if failure is not None:
            program.has_twin = False
            faults.report(f"capture the tensors of {program.name}", failure)
        if others is not None:
            self._compare(jitted, result, others)
        return result, captured

    @faults.guarded("compare what was captured with what was computed")
    def _compare(self, jitted: Jitted, result: Any, others: Any) -> None:
        jitted._trainwarden_program.compare(result, others)

    def _notice_traces(
        self, jitted: Jitted, was_looked_at: bool, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """JAX has compiled the function for other arguments: with these it may do something else."""
        program = jitted._trainwarden_program
        cached = jitted._trainwarden_plain._cache_size()
        if cached != program.cached:
            program.cached = cached
            if not was_looked_at:
                program.look_again(args, kwargs)

    def _known(self, jitted: Jitted, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Optional[Plan]:
        try:
            return jitted._trainwarden_program.plan_of(args, kwargs)
        except Exception:
            return None  # static arguments that cannot be compared: JAX says so

    def _look(self, jitted: Jitted, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Optional[Plan]:
        """None: it cannot be traced. The call that follows says why."""
        try:
            return jitted._trainwarden_program.look(jitted._trainwarden_plain, args, kwargs)
        except Exception:
            return None

    def _is_outermost(self) -> bool:
        return (
            trace_state_clean() and not is_owned() and self._session.is_ours() and not jax.config.jax_disable_jit
        )

    @faults.guarded("follow gradients of JAX")
    def differentiated(self, loss: Any, gradients: Any) -> None:
        """By a function that is outermost among those that differentiate. Derivatives by a single number train nothing."""
        leaves = jax.tree_util.tree_leaves(gradients)
        if len(leaves) == 1 and getattr(leaves[0], "ndim", 0) == 0:
            return
        if trace_state_clean():
            if not is_owned() and self._session.is_ours() and self._session.begin_event(True, False):
                self._session.gradients_computed(loss, names.leaves_of(gradients))
            return
        self._mark_differentiated(loss, gradients)

    @faults.guarded("mark gradients of JAX")
    def _mark_differentiated(self, loss: Any, gradients: Any) -> None:
        tags.mark(tags.LOSS, "loss", loss)
        tags.mark_tree(tags.OWN_GRADIENT, gradients)

    @faults.guarded("follow an update of JAX")
    def updating(self, gradients: Any, group: int) -> bool:
        """An optimizer gets these gradients. False: a rule inside the training vetoes its update."""
        if trace_state_clean():
            if not is_owned() and self._session.is_ours() and self._session.begin_event(False, True):
                self._session.updated(names.leaves_of(gradients))
                return not self._session.is_update_vetoed()
            return True
        self._mark(tags.GRADIENT, gradients, group)
        return True

    def updated(self, updates: Any, state: Any, group: int) -> None:
        """It gave these."""
        if not trace_state_clean():
            self._mark_updated(updates, state, group)

    def withholds(self) -> bool:
        """Has an update been vetoed that is to be applied now?"""
        return trace_state_clean() and not is_owned() and self._session.is_ours() and self._session.withholds

    @faults.guarded("follow weights of JAX")
    def applied(self, weights: Any, updates: Any) -> None:
        """New weights are there."""
        if trace_state_clean():
            if not is_owned() and self._session.is_ours():
                self._session.applied(names.leaves_of(weights))
            return
        self._mark(tags.WEIGHT, weights, tags.group_of(updates))

    def has_optimizer(self) -> None:
        """One was set up: its updates say where steps end."""
        self._session.has_optimizer = True

    @faults.guarded("mark the state of an optimizer")
    def _mark_updated(self, updates: Any, state: Any, group: int) -> None:
        tags.note_updates(updates, group)
        for name, leaf in names.leaves_of(state):
            if name.endswith(_RATE):
                tags.mark(tags.RATE, "learning_rate", leaf)
            else:
                tags.mark(tags.STATE, name, leaf, group)

    @faults.guarded("mark tensors of JAX")
    def _mark(self, kind: str, tree: Any, group: int) -> None:
        tags.mark_tree(kind, tree, group)

    def finish(self) -> None:
        """When the program ends. Its hook is closed behind this."""
        if tags.trained() and not self._session.has_begun:
            faults.say_once("a training was traced, and nothing of it captured: it is not called through jax.jit")
        self._session.finish()

    def start_anew(self) -> None:
        """In a forked child: the run that is open is its parent's."""
        self._session = Session(self._run_dir)

    def close(self) -> None:
        self._session.close()
