"""An LLM as judge, and scores that are corrected for its errors. Needs openai.

The checker is an async function, which gpassk calls for 32 samples at the same time. It asks the
judge three times and takes the majority. `pause` limits the rate of requests, the client repeats
those that fail, and answers are kept in a file, so that another run asks for new samples only. A
sample without three answers is not scored. A person labels some samples, from which gpassk
estimates how often the judge errs. The server is a stand-in on this machine; yours may be vLLM, or
any other with OpenAI's API.
"""

import asyncio
import json
import random
import tempfile
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import at_k
import numpy as np
import openai

PER_SECOND = 500
PROMPT = "Reference: {}\nAnswer: {}\nIs the answer correct? Reply yes or no."


requests: Counter[str] = Counter()  # that the server got


class StandIn(BaseHTTPRequestHandler):
    """A judge that errs, and that is busy at times; for one answer always."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        request = json.loads(body)
        reference, answer, _ = request["messages"][0]["content"].splitlines()
        chance = random.Random(body)  # equal for equal requests
        requests[body] += 1
        if "draft 29.5" in answer or (chance.random() < 0.1 and requests[body] == 1):
            return self.send(429, {"error": {"message": "busy"}})
        is_correct = answer.split()[1] == reference.split()[1]
        is_yes = chance.random() < (0.85 if is_correct else 0.25)
        message = {"role": "assistant", "content": "yes" if is_yes else "no"}
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        return self.send(200, {"id": "1", "object": "chat.completion", "choices": choices})

    def send(self, status: int, content: dict[str, Any]):
        text = json.dumps(content).encode()
        self.send_response(status)
        for name, value in (("Content-Length", len(text)), ("Retry-After-Ms", 5)):
            self.send_header(name, str(value))
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *arguments):
        """Print nothing."""


class Judge:
    """A checker for gpassk.

    Args:
        url: of the server.
        file: of the answers of the judge, which is read first.
    """

    def __init__(self, url: str, file: Path):
        self._client = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=4, timeout=60)
        self._file, self._next = file, 0.0
        lines = file.read_text().splitlines() if file.exists() else []
        self._answers = {tuple(key): answer for key, answer in map(json.loads, lines)}

    async def __call__(self, prediction: str, reference: str) -> bool | None:
        """Return what most of three answers say, or None if one of them is missing."""
        prompt = PROMPT.format(reference, prediction)
        answers = await asyncio.gather(*(self.ask(prompt, seed) for seed in range(3)))
        return None if None in answers else answers.count("yes") >= 2

    async def ask(self, prompt: str, seed: int) -> str | None:
        """Return an answer of the judge, or None if there is none after four more requests."""
        if (prompt, seed) not in self._answers:
            await self.pause()
            message: Any = {"role": "user", "content": prompt}
            try:
                completion = await self._client.chat.completions.create(
                    model="judge", messages=[message], seed=seed, max_tokens=1
                )
            except openai.APIError:
                return None
            answer = (completion.choices[0].message.content or "").strip().lower()
            self._answers[prompt, seed] = answer
            with self._file.open("a") as file:
                file.write(json.dumps([[prompt, seed], answer]) + "\n")
        return self._answers[prompt, seed]

    async def pause(self) -> None:
        """Wait until another request is within the limit."""
        now = time.monotonic()
        self._next = max(now, self._next + 1 / PER_SECOND)
        await asyncio.sleep(self._next - now)


rng = np.random.default_rng(0)
references = [str(12 + question) for question in range(30)]
is_correct = rng.random((30, 6)) < rng.beta(1, 2, (30, 1))
predictions = [
    [f"{answer if is_right else 0} draft {i}.{j}" for j, is_right in enumerate(row)]
    for i, (answer, row) in enumerate(zip(references, is_correct, strict=True))
]
# A person labels four of six samples of each question.
labels = [[int(x) if j % 3 else None for j, x in enumerate(row)] for row in is_correct]

server = ThreadingHTTPServer(("127.0.0.1", 0), StandIn)
server.request_queue_size = 128
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}/v1"
metric = at_k.load("gpassk")
options: dict[str, Any] = {"k": [1, 4], "include": "pass@k", "confidence": 0.95}
with tempfile.TemporaryDirectory() as folder:
    answers = Path(folder, "answers.jsonl")
    raw = metric.compute(
        predictions=predictions,
        references=references,
        check_correct_fn=Judge(url, answers),
        **options,
    )
    number = requests.total()
    corrected = metric.compute(
        predictions=predictions,
        references=references,
        check_correct_fn=Judge(url, answers),
        labels=labels,
        **options,
    )
    again = requests.total() - number
server.shutdown()
server.server_close()

truth = at_k.pass_at_k(is_correct, 1)
for name, scores in (("as the judge says", raw), ("corrected", corrected)):
    lo, hi = scores["pass@1_lo"], scores["pass@1_hi"]
    print(f"pass@1 {name}: {scores['pass@1']:.3f} ({lo:.3f} to {hi:.3f}); true: {truth:.3f}")
print(f"{number} requests for {3 * is_correct.size} answers, and {again} in the second run")
print(corrected["checker"])
assert not raw["pass@1_lo"] <= truth <= raw["pass@1_hi"]
assert corrected["pass@1_lo"] <= truth <= corrected["pass@1_hi"]
assert corrected["checker"]["labels"] == 119  # the sample without three answers has one too
assert again == 15  # three answers of one sample are still missing, after five requests each
