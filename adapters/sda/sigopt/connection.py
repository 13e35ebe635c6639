"""The connection, which connects to nothing: experiments are studies in a folder of this machine."""

from __future__ import annotations

import logging
import os
from typing import Any, Optional

from .exceptions import ApiException
from .experiments import Experiments, OneExperiment

_logger = logging.getLogger("sigopt")


class Connection:
    """As SigOpt's client has it.

    `client_token` is not needed. `folder`, which is ours, holds the studies: TRAINWARDEN_STUDIES, else ./studies. May
    be used from many threads and processes.
    """

    def __init__(
        self,
        client_token: Optional[str] = None,
        user_agent: Optional[str] = None,
        *,
        folder: Optional[str] = None,
    ):
        self.folder = folder or os.environ.get("TRAINWARDEN_STUDIES") or "studies"

    def set_api_url(self, url: str) -> None:
        """Nothing is sent there, and the log says so."""
        _logger.warning("nothing is sent to %s: experiments are studies in %s", url, self.folder)

    def set_verify_ssl_certs(self, verify: object) -> None:
        """There is no connection to verify."""

    def set_timeout(self, seconds: object) -> None:
        """There is no connection to wait for."""

    def experiments(self, id: Any = None) -> Any:
        """All experiments, or with `id` one: an Experiments or a OneExperiment."""
        return Experiments(self.folder) if id is None else OneExperiment(self.folder, str(id))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise ApiException(f"Connection.{name}: there are experiments here, and nothing else of SigOpt's service", 404)
