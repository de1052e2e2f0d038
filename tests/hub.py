"""A server on the loopback interface that answers as the Hugging Face Hub does."""

from __future__ import annotations

import base64
import hashlib
import http.server
import json
import threading
import time
import urllib.parse
from pathlib import Path
from typing import Any

METRICS = Path(__file__).resolve().parents[1] / "metrics"
COMMIT = "0" * 40


class Hub(http.server.ThreadingHTTPServer):
    """Serves folders as Spaces whose only branch is `main`.

    Args:
        spaces: The folder of each Space by its name, such as "evaluate-metric/gpassk". Default:
            the metrics of this project as those of `evaluate`.
        delay: Seconds from a request to its answer.
        uploads: A folder in which new Spaces and what is committed to them are kept. Default: the
            Hub cannot be written to.

    Attributes:
        tags: The tags of each Space, by its name.
        refuses: Whether the token may not write.
    """

    def __init__(
        self, spaces: dict[str, Path] | None = None, delay: float = 0.0, uploads: Path | None = None
    ):
        super().__init__(("127.0.0.1", 0), _Handler)
        ours = {f"evaluate-metric/{path.name}": path for path in METRICS.iterdir()}
        self.spaces = ours if spaces is None else spaces
        self.delay = delay
        self.uploads = uploads
        self.tags: dict[str, list[str]] = {}
        self.refuses = False
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
        if content is None and self.path.startswith("/api/spaces/"):
            self.send_header("X-Error-Code", "RepoNotFound")
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
        parts = urllib.parse.unquote(self.path.partition("?")[0]).strip("/").split("/")
        if parts[:2] == ["api", "spaces"]:
            return self._describe("/".join(parts[2:4]), *parts[4:5])
        folder = self.server.spaces.get("/".join(parts[1:3]))
        if parts[0] != "spaces" or folder is None or parts[3:5] != ["resolve", "main"]:
            return None
        file = folder.joinpath(*parts[5:])
        return file.read_bytes() if file.is_file() else None

    # --- A Hub that can be written to: the requests of `HfApi` for Spaces ------------------

    def do_POST(self) -> None:
        self.server.requests.append(f"POST {self.path}")
        content = self.rfile.read(int(self.headers["Content-Length"]))
        status: int = 403
        answer: Any = {"error": "This token may not write"}
        if not self.server.refuses and self.server.uploads is not None:
            status, answer = 200, self._write(content)
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _write(self, content: bytes) -> Any:
        parts = self.path.strip("/").split("/")
        if parts == ["api", "validate-yaml"]:
            return {"warnings": []}
        if parts == ["api", "repos", "create"]:
            repository = json.loads(content)
            name = f"{repository['organization']}/{repository['name']}"
            assert self.server.uploads is not None
            self.server.spaces[name] = self.server.uploads / name
            self.server.spaces[name].mkdir(parents=True)
            self.server.spaces[name].joinpath(".gitattributes").touch()
            return {"url": f"{self.server.environment['HF_ENDPOINT']}/spaces/{name}"}
        name, action = "/".join(parts[2:4]), parts[4]
        if action == "preupload":
            files = json.loads(content)["files"]
            plain = {"uploadMode": "regular", "shouldIgnore": False}
            return {"files": [{"path": file["path"], **plain} for file in files]}
        if action == "commit":
            for line in map(json.loads, content.splitlines()):
                self._commit(self.server.spaces[name], line["key"], line["value"])
            url = f"{self.server.environment['HF_ENDPOINT']}/spaces/{name}/commit/{COMMIT}"
            return {"commitUrl": url, "commitOid": COMMIT, "success": True}
        if action == "tag":
            self.server.tags.setdefault(name, []).append(json.loads(content)["tag"])
            return {}
        return None

    @staticmethod
    def _commit(folder: Path, key: str, value: dict[str, str]) -> None:
        if key == "file":
            file = folder / value["path"]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(base64.b64decode(value["content"]))
        elif key == "deletedFile":
            folder.joinpath(value["path"]).unlink()

    def _describe(self, name: str, action: str = "") -> bytes | None:
        """Return the files of a Space with the hashes of git, or its tags."""
        folder = self.server.spaces.get(name)
        if folder is None:
            return None
        if action == "refs":
            tags = [
                {"name": tag, "ref": f"refs/tags/{tag}", "targetCommit": COMMIT}
                for tag in self.server.tags.get(name, [])
            ]
            return json.dumps({"branches": [], "converts": [], "tags": tags}).encode()
        tree = []
        for file in sorted(file for file in folder.rglob("*") if file.is_file()):
            content = file.read_bytes()
            oid = hashlib.sha1(b"blob %d\0%b" % (len(content), content)).hexdigest()
            path = file.relative_to(folder).as_posix()
            tree.append({"type": "file", "path": path, "size": len(content), "oid": oid})
        return json.dumps(tree).encode()

    def log_message(self, format: str, *args: object) -> None:
        pass
