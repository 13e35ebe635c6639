"""Answers: who a view asks. The addresses are those of the server's API (docs/reference/api), below /runs/{run}."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Union
from urllib.parse import parse_qsl, urlencode, urlsplit

from ..arrays import Array
from ..errors import InvalidArgument
from .arrays_document import Arrays, from_bytes

Parameter = Union[str, int, None]


@dataclass(frozen=True)
class Reply:
    """`is_arrays`: a safetensors document; else JSON."""

    is_arrays: bool
    body: bytes


class Answers(ABC):
    """Answers questions about one run."""

    run = "0000000000000000"  # the id that stands for {run}
    name = ""  # of the run; "": arrays that were given

    @abstractmethod
    def ask(self, address: str) -> Reply:
        """`address` is "/runs/{run}/attention/head?layer=0&step=3". Raises what trainwarden.errors has."""

    @abstractmethod
    def version(self) -> int:
        """Grows when there may be news. A look at the run, no more."""

    @abstractmethod
    def vectors(self, layer: dict[str, Any], step: int, item: int) -> tuple[Array, Array] | None:
        """Queries [heads, positions, numbers] and keys, of fewer heads where several share one, of a layer as
        /attention lists it; None when there are none. For saved pages, which work out the rest themselves."""

    def json(self, path: str, **parameters: Parameter) -> Any:
        return json.loads(self.ask(self.address(path, **parameters)).body)

    def arrays(self, path: str, **parameters: Parameter) -> Arrays:
        return from_bytes(self.ask(self.address(path, **parameters)).body)

    def address(self, path: str, **parameters: Parameter) -> str:
        given = {name: value for name, value in sorted(parameters.items()) if value is not None}
        return f"/runs/{self.run}{path}" + (f"?{urlencode(given)}" if given else "")


@dataclass(frozen=True)
class Question:
    """An address, taken apart."""

    path: str
    parameters: dict[str, str]

    @classmethod
    def of(cls, address: str, run: str) -> Question:
        parts = urlsplit(address)
        prefix = f"/runs/{run}"
        if not parts.path.startswith(prefix + "/"):
            raise InvalidArgument(f"expected an address below {prefix}, got {address!r}")
        return cls(parts.path[len(prefix) :], dict(parse_qsl(parts.query, keep_blank_values=True)))

    def integer(self, name: str, fallback: int | None = None) -> int:
        text = self.parameters.get(name)
        if text is None and fallback is not None:
            return fallback
        try:
            number = int(text or "")
        except ValueError:
            number = -1
        if number < 0:
            raise InvalidArgument(f"expected {name}=N, a number that is not negative, got {text!r}")
        return number

    def integers(self, name: str) -> list[int]:
        """Separated by commas; empty when it is not there."""
        text = self.parameters.get(name, "")
        try:
            return [int(part) for part in text.split(",") if part]
        except ValueError:
            raise InvalidArgument(f"expected {name}=N,N,..., got {text!r}") from None
