"""SaveConfig: at which steps of each mode tensors are saved."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Optional, Union

from ..exceptions import SMDebugTypeError, SMDebugValueError
from .modes import ModeKeys

DEFAULT_SAVE_CONFIG_INTERVAL = 500
DEFAULT_SAVE_CONFIG_START_STEP = 0
DEFAULT_SAVE_CONFIG_END_STEP: Optional[int] = None
DEFAULT_SAVE_CONFIG_SAVE_STEPS: tuple[int, ...] = ()
ALLOWED_PARAMS = ["save_interval", "save_steps", "start_step", "end_step"]


class SaveConfigMode:
    """The steps of one mode that are saved: those in save_steps, and multiples of save_interval from start_step up to,
    but not including, end_step (None: no end). The modulo is on the step itself, not on its distance to start_step.

    Raises:
        SMDebugValueError: a number is none, save_interval is below 1, or save_steps is no list of integers.
    """

    def __init__(
        self,
        save_interval: Union[int, str, None] = None,
        start_step: Union[int, str, None] = None,
        end_step: Union[int, str, None] = None,
        save_steps: Optional[list[int]] = None,
    ) -> None:
        interval = _number("save_interval", save_interval)
        start = _number("start_step", start_step)
        self.save_interval = DEFAULT_SAVE_CONFIG_INTERVAL if interval is None else interval
        self.start_step = DEFAULT_SAVE_CONFIG_START_STEP if start is None else start
        self.end_step = _number("end_step", end_step)
        self.save_steps = list(DEFAULT_SAVE_CONFIG_SAVE_STEPS) if save_steps is None else save_steps
        if self.save_interval < 1:
            raise SMDebugValueError(f"expected a save_interval of at least 1, found {self.save_interval}")
        if not (isinstance(self.save_steps, list) and all(isinstance(step, int) for step in self.save_steps)):
            raise SMDebugValueError(f"expected a list of integers as save_steps, found {self.save_steps!r}")

    def should_save_step(self, step_num: int) -> bool:
        if step_num in self.save_steps:
            return True
        is_inside = step_num >= self.start_step and (self.end_step is None or step_num < self.end_step)
        return is_inside and step_num % self.save_interval == 0

    def to_json_dict(self) -> dict[str, Any]:
        return {
            "save_interval": self.save_interval,
            "save_steps": self.save_steps,
            "start_step": self.start_step,
            "end_step": self.end_step,
        }

    @classmethod
    def from_dict(
        cls, params: Optional[Mapping[str, Any]], default_values: Optional[Mapping[str, Any]] = None
    ) -> Optional[SaveConfigMode]:
        """None for None. What is missing comes from default_values."""
        if params is None:
            return None
        for given in (params, default_values):
            if given is not None and not isinstance(given, Mapping):
                raise SMDebugTypeError(f"expected a dict with {', '.join(ALLOWED_PARAMS)}, found {given!r}")
        return cls(**{key: params.get(key, (default_values or {}).get(key)) for key in ALLOWED_PARAMS})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SaveConfigMode):
            return NotImplemented
        return self.to_json_dict() == other.to_json_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        values = ", ".join(f"{key}={value}" for key, value in self.to_json_dict().items())
        return f"<class SaveConfig: {values}>"


class SaveConfig:
    """A SaveConfigMode for each mode.

    Either the four numbers, which then hold for every mode, or `mode_save_configs`; modes that it leaves out are None,
    and get the hook's when training begins.

    Raises:
        SMDebugValueError: both were given, or a key is no ModeKeys, or a value no SaveConfigMode.
    """

    def __init__(
        self,
        mode_save_configs: Optional[Mapping[ModeKeys, Optional[SaveConfigMode]]] = None,
        save_interval: Union[int, str, None] = None,
        start_step: Union[int, str, None] = None,
        end_step: Union[int, str, None] = None,
        save_steps: Optional[list[int]] = None,
    ) -> None:
        numbers = {
            "save_interval": save_interval,
            "start_step": start_step,
            "end_step": end_step,
            "save_steps": save_steps,
        }
        given = [key for key, value in numbers.items() if value is not None]
        self.mode_save_configs: dict[ModeKeys, Optional[SaveConfigMode]]
        if mode_save_configs is None:
            self.mode_save_configs = {mode: SaveConfigMode(**numbers) for mode in ModeKeys}  # type: ignore[arg-type]
            return
        if given:
            raise SMDebugValueError(
                f"expected either mode_save_configs or {', '.join(given)}, found both; give each mode its own numbers"
            )
        for mode, config in mode_save_configs.items():
            if not isinstance(mode, ModeKeys) or not (config is None or isinstance(config, SaveConfigMode)):
                raise SMDebugValueError(f"expected ModeKeys with a SaveConfigMode each, found {mode!r}: {config!r}")
        self.mode_save_configs = {mode: mode_save_configs.get(mode) for mode in ModeKeys}

    def get_save_config(self, mode: ModeKeys) -> SaveConfigMode:
        """SMDebugValueError when nothing was said of this mode, and no hook has filled it yet."""
        config = self.mode_save_configs[mode]
        if config is None:
            raise SMDebugValueError(
                f"expected a SaveConfigMode for {mode.name}, found none; a hook fills it at its first step"
            )
        return config

    def set_save_config(self, mode: ModeKeys, save_config_mode: SaveConfigMode) -> None:
        if not isinstance(save_config_mode, SaveConfigMode):
            raise SMDebugValueError(f"expected a SaveConfigMode, found {save_config_mode!r}")
        self.mode_save_configs[mode] = save_config_mode

    def should_save_step(self, mode: ModeKeys, step_num: int) -> bool:
        """`step_num`: of the mode."""
        return self.get_save_config(mode).should_save_step(step_num)

    def merge_default_save_config(self, default_save_config: SaveConfig) -> None:
        """Fills the modes that are None: from the other one, else with the defaults."""
        for mode, config in self.mode_save_configs.items():
            if config is None:
                self.mode_save_configs[mode] = default_save_config.mode_save_configs[mode] or SaveConfigMode()

    def to_json_dict(self) -> dict[str, Any]:
        return {mode.name: config and config.to_json_dict() for mode, config in self.mode_save_configs.items()}

    def to_json(self) -> str:
        return json.dumps(self.to_json_dict())

    @classmethod
    def from_dict(
        cls, params: Optional[Mapping[Any, Any]], default_values: Optional[Mapping[str, Any]] = None
    ) -> Optional[SaveConfig]:
        """None for None. Keys are ModeKeys or their names, values SaveConfigModes, dicts or None."""
        if params is None:
            return None
        configs: dict[ModeKeys, Optional[SaveConfigMode]] = {}
        for mode, config in params.items():
            key = ModeKeys[mode] if isinstance(mode, str) else mode
            is_dict = config is None or isinstance(config, Mapping)
            configs[key] = SaveConfigMode.from_dict(config, default_values) if is_dict else config
        return cls(mode_save_configs=configs)

    @classmethod
    def from_json(cls, json_str: str) -> Optional[SaveConfig]:
        return cls.from_dict(json.loads(json_str))

    @classmethod
    def from_save_config_mode(cls, save_config_mode: SaveConfigMode) -> SaveConfig:
        """The same for all modes."""
        return cls(mode_save_configs={mode: save_config_mode for mode in ModeKeys})

    @classmethod
    def parse(cls, obj: object) -> SaveConfig:
        """Of None (the defaults), a SaveConfig, a SaveConfigMode, or what from_dict() takes."""
        if obj is None:
            return cls()
        if isinstance(obj, SaveConfig):
            return obj
        if isinstance(obj, SaveConfigMode):
            return cls.from_save_config_mode(obj)
        parsed = cls.from_dict(obj) if isinstance(obj, Mapping) else None
        if parsed is None:
            raise SMDebugTypeError(f"expected a SaveConfig, a SaveConfigMode or a dict by mode, found {obj!r}")
        return parsed

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SaveConfig):
            return NotImplemented
        return self.mode_save_configs == other.mode_save_configs

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<class SaveConfig: {self.mode_save_configs}>"


def _number(key: str, value: Union[int, str, None]) -> Optional[int]:
    try:
        return None if value is None else int(value)
    except (TypeError, ValueError):
        raise SMDebugValueError(f"expected an integer as {key}, found {value!r}") from None
