"""A server on the loopback interface that answers as the Hugging Face Hub does."""

from __future__ import annotations

import hashlib
import http.server
import json
import threading
import time
from pathlib import Path

METRICS = Path(__file__).resolve().parents[1] / "metrics"
COMMIT = "0" * 40


class Hub(http.server.ThreadingHTTPServer):
    """Serves folders as Spaces and datasets whose only branch is `main`.

    Args:
        spaces: The folder of each Space by its name, such as "evaluate-metric/gpassk". Default:
            the metrics of this project as those of `evaluate`.
        delay: Seconds from a request to its answer.
        datasets: The folder of each dataset by its name.
    """

    def __init__(
        self,
        spaces: dict[str, Path] | None = None,
        delay: float = 0.0,
        datasets: dict[str, Path] | None = None,
    ):
        super().__init__(("127.0.0.1", 0), _Handler)
        ours = {f"evaluate-metric/{path.name}": path for path in METRICS.iterdir()}
        self.spaces = ours if spaces is None else spaces
        self.datasets = datasets or {}
        self.delay = delay
        self.requests: list[str] = []

    @property
    def environment(self) -> dict[str, str]:
        """The variables with which a process asks this server, and no other."""
        return {
            "HF_ENDPOINT": f"http://127.0.0.1:{self.server_port}",
            "HF_HUB_OFFLINE": "0",
            "HF_EVALUATE_OFFLINE": "0",
            "HF_UPDATE_DOWNLOAD_COUNTS": "0",
            "NO_PROXY": "127.0.0.1",
        }

    def __enter__(self) -> Hub:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *problem: object) -> None:
        self.shutdown()
        self.server_close()


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Hub
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self.wfile.write(self._answer())

    def _answer(self) -> bytes:
        self.server.requests.append(f"{self.command} {self.path}")
        time.sleep(self.server.delay)
        content = self._content()
        self.send_response(404 if content is None else 200)
        self.send_header("Content-Length", str(len(content or b"")))
        if content is not None:
            self.send_header("ETag", f'"{hashlib.sha256(content).hexdigest()}"')
            self.send_header("X-Repo-Commit", COMMIT)
        self.end_headers()
        return content or b""

    def _content(self) -> bytes | None:
        """Return the file that the URL /KIND/OWNER/NAME/resolve/main/FILE names, or a listing."""
        if self.path == "/api/agent-harnesses":  # huggingface_hub asks for it once a day
            return b'{"standardEnvVars": [], "harnesses": {}}'
        parts = self.path.strip("/").split("/")
        if parts[:2] == ["api", "datasets"]:
            folder = self.server.datasets.get("/".join(parts[2:]))
            return None if folder is None else _listing(folder)
        folders = {"spaces": self.server.spaces, "datasets": self.server.datasets}.get(parts[0], {})
        folder = folders.get("/".join(parts[1:3]))
        if folder is None or parts[3:5] != ["resolve", "main"]:
            return None
        file = folder.joinpath(*parts[5:])
        return file.read_bytes() if file.is_file() else None

    def log_message(self, format: str, *args: object) -> None:
        pass


def _listing(folder: Path) -> bytes:
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    names = [{"rfilename": file.relative_to(folder).as_posix()} for file in files]
    return json.dumps({"siblings": names}).encode()
