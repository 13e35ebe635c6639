"""What a hook hangs on modules and parameters. None of it changes a value, or raises into the training."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from trainwarden import faults

from ..core.taps import Tap
from ..exceptions import SMDebugError

if TYPE_CHECKING:
    from .hook import Hook

# torch does not warn that these do not come along when a parameter is saved.
_NOT_SAVED = "__torch_unserializable__"


class _Tap(Tap):
    def __init__(self, hook: Hook) -> None:
        self.hook = hook
        setattr(self, _NOT_SAVED, True)


class RootTap(_Tap):
    """Before the forward pass of a registered model: a step begins."""

    def __call__(self, module: Any, inputs: Any) -> None:
        try:
            self.hook.begin_step_of(module)
        except SMDebugError:
            raise  # wrong usage
        except Exception as error:
            faults.report("begin a step of smdebug's hook", error)


class CallTap(_Tap):
    """After the forward pass of a module."""

    def __init__(self, hook: Hook, name: str) -> None:
        super().__init__(hook)
        self._name = name

    def __call__(self, module: Any, inputs: Any, outputs: Any) -> None:
        if not self.hook.is_saving:
            return
        try:
            self.hook.save_call(self._name, inputs, outputs)
        except Exception as error:
            faults.report(f"save what {self._name} computes", error)


class GradientTap(_Tap):
    """When the backward pass has computed the gradient of a parameter."""

    def __init__(self, hook: Hook, name: str) -> None:
        super().__init__(hook)
        self._name = name

    def __call__(self, gradient: Any) -> None:
        try:
            self.hook.save_gradient(self._name, gradient)
        except Exception as error:
            faults.report(f"save {self._name}", error)


class Taps:
    """Those of modules and parameters, which hang there only in steps of which something is saved."""

    def __init__(self) -> None:
        self._calls: list[tuple[weakref.ref[Any], CallTap]] = []
        self._gradients: list[tuple[weakref.ref[Any], GradientTap]] = []
        self._handles: list[Any] = []
        self._is_armed = False

    def add_call(self, module: Any, tap: CallTap) -> None:
        self._calls.append((weakref.ref(module), tap))
        if self._is_armed:
            self._handles.append(module.register_forward_hook(tap))

    def add_gradient(self, parameter: Any, tap: GradientTap) -> None:
        self._gradients.append((weakref.ref(parameter), tap))
        if self._is_armed:
            self._handles.append(parameter.register_hook(tap))

    def arm(self) -> None:
        """Again: does nothing."""
        if self._is_armed:
            return
        self._is_armed = True
        calls = ((reference(), tap) for reference, tap in self._calls)
        gradients = ((reference(), tap) for reference, tap in self._gradients)
        self._handles = [
            *(module.register_forward_hook(tap) for module, tap in calls if module is not None),
            *(parameter.register_hook(tap) for parameter, tap in gradients if parameter is not None),
        ]

    def disarm(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []
        self._is_armed = False
