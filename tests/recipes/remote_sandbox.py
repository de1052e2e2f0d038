"""Programs tested in a sandbox on another machine, or in a container. Needs no other library.

The checker is an async function that sends a program and its tests to a server, and waits: gpassk
calls it for many programs at the same time. The server here is a stand-in on this machine; yours
may be a container (`docker run --network none ..`), E2B, Modal or a cluster. It must tell a wrong
answer from a failure of the machine: the checker returns None then, and the sample is not scored.
"""

import asyncio
import http.client
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import at_k
from at_k.checkers import python_tests


class StandIn(BaseHTTPRequestHandler):
    """Runs the tests of a program for each request."""

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        [[record]] = python_tests(workers=1).run([[request["program"]]], [request["tests"]])
        answer = json.dumps(record).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *arguments):
        """Print nothing."""


def post(host: str, body: str) -> dict:
    """Send a request, and return the answer."""
    connection = http.client.HTTPConnection(host, timeout=60)
    try:
        connection.request("POST", "/", body)
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


async def run_remotely(program: str, tests: str) -> bool | None:
    """Return whether a program passes its tests, or None if no server could tell."""
    body = json.dumps({"program": program, "tests": tests})
    for _ in range(2):
        try:
            record = await asyncio.to_thread(post, host, body)
        except OSError:
            continue
        return None if record["status"] == "not run" else record["status"] == "passed"
    return None


server = ThreadingHTTPServer(("127.0.0.1", 0), StandIn)
host = f"127.0.0.1:{server.server_port}"
threading.Thread(target=server.serve_forever, daemon=True).start()
programs = [
    ["def add(a, b): return a + b", "def add(a, b): return a - b"],
    ["def double(a): return a + a", "def double(a): return 2 * a"],
]
scores = at_k.load("gpassk").compute(
    predictions=programs,
    references=["assert add(2, 3) == 5", "assert double(4) == 8"],
    check_correct_fn=run_remotely,
    k=[1, 2],
    include="pass@k",
)
server.shutdown()
server.server_close()
print(scores)
assert scores == {"pass@1": 0.75, "pass@2": 1.0}
