"""Write the fixture of OpenAI's batch output with the response types of its client.

Made with openai 3.54.0 on Python 3.11.7 (`pip install openai`). Run it as
`python make_openai_batch.py`. The service was not called: each line is what its documentation says
that a line of the output file is, and each body is a `ChatCompletion` or a `Completion`.
"""

import json
import shutil
from pathlib import Path

from openai.types import Completion, CompletionChoice
from openai.types.chat import ChatCompletion, ChatCompletionMessage
from openai.types.chat.chat_completion import Choice

FOLDER = Path(__file__).parent / "fixtures" / "openai_batch"

# The output is not in the order of the requests, nor are the choices in order of their index.
RESPONSES = {
    "sum-2": ["8", "9", "6", "1"],
    "sum-0": ["3", "4", "3", None],  # a refusal has no content
    "sum-1": ["4", "4", "4", "4"],
}


def chat(texts):
    choices = [
        Choice(
            index=i,
            finish_reason="stop" if text else "content_filter",
            message=ChatCompletionMessage(
                role="assistant", content=text, refusal=None if text else "no"
            ),
        )
        for i, text in enumerate(texts)
    ]
    return ChatCompletion(
        id="chatcmpl-0",
        choices=choices[::-1],
        created=0,
        model="gpt-4o-mini-2024-07-18",
        object="chat.completion",
    )


def completion(texts):
    choices = [
        CompletionChoice(index=i, finish_reason="stop", text=text or "", logprobs=None)
        for i, text in enumerate(texts)
    ]
    return Completion(
        id="cmpl-0",
        choices=choices,
        created=0,
        model="gpt-3.5-turbo-instruct",
        object="text_completion",
    )


def line(custom_id, body):
    response = {"status_code": 200, "request_id": "req_0", "body": body.model_dump(mode="json")}
    return {"id": "batch_req_0", "custom_id": custom_id, "response": response, "error": None}


FAILED = {
    "id": "batch_req_1",
    "custom_id": "sum-3",
    "response": None,
    "error": {"code": "batch_expired", "message": "This request could not be executed in time."},
}


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    files = {
        "chat.jsonl": [line(custom_id, chat(texts)) for custom_id, texts in RESPONSES.items()],
        "completions.jsonl": [
            line(custom_id, completion(texts)) for custom_id, texts in RESPONSES.items()
        ],
        "with_failure.jsonl": [line("sum-0", chat(RESPONSES["sum-0"])), FAILED],
    }
    for name, lines in files.items():
        (FOLDER / name).write_text("".join(json.dumps(each) + "\n" for each in lines))


if __name__ == "__main__":
    main()
