"""original_name(): what the framework called a tensor, in a folder that smdebug wrote."""

from __future__ import annotations

import json
from contextlib import suppress

import trainwarden
from trainwarden import _places


def original_name(source: trainwarden.Trial, name: str) -> str | None:
    """Stands in the index files of smdebug's beside the tensor's shape; None where there is none."""
    steps = source.tensor(name).steps(kept="shape") if source.recorder == "smdebug" else []
    for step in steps[:1]:
        for worker in source.workers_of(name, step):
            file = f"index/{step // 1000:09d}/{step:012d}_{worker}.json"
            # A name is worth no error.
            with suppress(trainwarden.Error, OSError, ValueError, KeyError, TypeError):
                shapes = json.loads(_places.read(source.path, file))["shape_payload"]
                return next((str(shape["originalname"]) for shape in shapes if shape["tensorname"] == name), None)
    return None
