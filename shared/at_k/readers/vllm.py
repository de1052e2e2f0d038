"""Read the `RequestOutput` objects that `LLM.generate` and `LLM.chat` of vLLM return.

They are recognized by their attributes, so that vLLM need not be installed. They have no
references: pass those as `compute(**at_k.read(outputs), references=answers)`, in the order of the
prompts.
"""

from __future__ import annotations

from typing import Any

from .table import Columns, Roles, Table


def read_request_outputs(source: Any) -> Table | None:
    """Return a row for each request, with the texts of its n outputs."""
    requests = source if isinstance(source, (list, tuple)) else [source]
    if not requests or not all(map(_is_request_output, requests)):
        return None
    columns: Columns = {
        "request_id": [request.request_id for request in requests],
        "prompt": [request.prompt for request in requests],
        "outputs": [[output.text for output in request.outputs] for request in requests],
    }
    roles: Roles = {"questions": "request_id", "predictions": "outputs"}
    return Table(columns, roles, {"harness": "vLLM"})


def _is_request_output(request: Any) -> bool:
    return all(hasattr(request, name) for name in ("request_id", "prompt", "outputs")) and all(
        hasattr(output, "text") for output in request.outputs
    )
