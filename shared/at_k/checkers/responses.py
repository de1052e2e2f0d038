"""Find the part of a response that has its answer, and the code in a response, for all checkers."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Collection, Sequence
from itertools import islice
from typing import Any

# --- The part of a response that has its answer -------------------------------------------

_THOUGHT = r"think(?:ing)?|thoughts?|reasoning|reflection|scratchpad|analysis|seed:think"
_TAGS = re.compile(
    r"[<\[◁](?:"  # one set of characters, which is searched fast
    rf"(?P<starts>(?:{_THOUGHT})>|\|begin_of_thought\|>|THINK\]|think▷|\|channel\|>(?!final)\w+<\|message\|>)"
    rf"|(?P<ends>/(?:{_THOUGHT})>|\|end_of_thought\|>|/THINK\]|/think▷|\|channel\|>final<\|message\|>)"
    r"|\|end\|>)",
    re.IGNORECASE,
)
_PROMPT = (
    r"Question|Q|Problem|Exercise|Instruction|Task|Human|User|Frage|Aufgabe|Exercice|Pregunta|Problema"
    r"|Ejercicio|Domanda|Esercizio|Pergunta|Вопрос|Задача|问题|题目|問題|문제|질문"
)
_NEXT_PROMPT = re.compile(
    rf"\n[ \t]*(?:#+[ ]*|\[|\d+[.)][ ]*)?(?:\*\*)?(?:{_PROMPT})(?:[ ]?\d+)?(?:\*\*)?"
    r"(?:[ ]?[:\uff1a]|\]|(?<=Q)\.|(?<=\d)\.\s|[ ]*(?=\n))|\n[ \t]*<\|(?:im_start|user)\|>"
    r"|<\|(?:im_end|eot_id|eom_id|endoftext|return)\|>|<end_of_turn>|</s>"
)
_MOST_PROMPTS = 8  # so many prompts are looked at, to bound the time


def _without_thinking(text: str) -> str:
    """Return a text without the parts between tags of thinking, or "" if such a part has no end."""
    outside, depth, stop = [], 0, 0
    for tag in _TAGS.finditer(text):
        if depth == 0 and not tag["ends"]:
            outside.append(text[stop : tag.start()])
        if tag["starts"]:
            depth += 1
        elif depth:
            depth -= 1
        elif tag["ends"]:  # the thinking started in the prompt
            outside = []
        stop = tag.end()
    return "" if depth else "\n".join([*outside, text[stop:]])


def answer_part(text: str, stop: Sequence[str], has_answer: Callable[[str], Any]) -> str:
    """Return a response without the parts in thinking tags; "" if a tag is not closed.

    The response is cut at the texts in `stop`, and at the first new prompt, such as "Question:",
    for which `has_answer` is true for the part before it.
    """
    text = _without_thinking(text)
    for end in stop:
        text = text.partition(end)[0]
    for prompt in islice(_NEXT_PROMPT.finditer(text), _MOST_PROMPTS):
        if has_answer(text[: prompt.start()]):
            return text[: prompt.start()]
    return text


def boxed(text: str) -> str | None:
    r"""Return the content of the last \boxed{..} (its end may be missing) or \boxed 5, or None."""
    start = text.rfind("\\boxed")
    if start < 0:
        return None
    content, depth = text[start + 6 :].lstrip(), 0
    if not content.startswith("{"):
        return content.split(maxsplit=1)[0] if content else None
    for index, character in enumerate(content):
        depth += (character == "{") - (character == "}")
        if depth == 0:
            return content[1:index]
    return content[1:]


_RETRACTION = re.compile(
    r"(?:^|[\n.!?(])[ \t]*(?:(?:But |Oh,? )?[Ww]ait|Actually|Hold on|Correction|Edit|Sorry|Oops|Hmm"
    r"|Let me re(?:consider|count|do|think)|I mis\w+)\b(?:,? no\b)?|\bno, (?:sorry|wait)\b"
    r"|(?:[-,;?\u2013\u2014\u2026]|\.\.\.)\s*(?:[Nn]o|sorry|wait|scratch that|rather)\b(?=,)"
)
_SENTENCE_BREAK = re.compile(
    r"\n|(?<=。)|(?<!i\.e\.)(?<!e\.g\.)(?<!\\!)(?<=[.!?])[*_]*\s"  # \! is of LaTeX
)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text. A line break ends one, too. Some may be empty."""
    return _SENTENCE_BREAK.split(text)


def last_answer(
    text: str,
    marks: re.Pattern[str],
    answer_after: Callable[[str, re.Match[str]], str | None],
    answer_without_mark: Callable[[str], str | None],
) -> str | None:
    """Return the answer after the last mark in a text, or `answer_without_mark(text)`, or None.

    An answer after a retraction such as "Wait" replaces the one before it. `answer_after` returns
    "" if the answer is unclear, and None if none follows the mark; then the mark before is tried.
    """

    def answer_and_rest(part: str) -> tuple[str | None, str]:
        """Return the answer in a part, and the text after its mark, which may retract it."""
        for mark in reversed([*marks.finditer(part)]):
            answer = answer_after(part, mark)
            if answer is not None:
                return answer, part[mark.end() :]
        return answer_without_mark(part), part

    answer, rest = answer_and_rest(text)
    *_, retraction = [None, *_RETRACTION.finditer(rest)]
    correction = rest[retraction.end() :].lstrip(" ,:") if retraction else ""
    corrected = answer_and_rest(correction)[0] if correction else None
    return corrected or answer or None


# --- Code ---------------------------------------------------------------------------------

_FENCE = re.compile(r"^([ \t]*)(?:`{3,}|~{3,})[^\n`]*$", re.MULTILINE)
_DEFINITION = re.compile(r"^[ \t]*(?:async[ \t]+def|def|class)[ \t]+(\w+)", re.MULTILINE)


def code_in(response: str, names: Collection[str] = ()) -> str:
    """Return the code in a response: a fenced block, or the whole text if there is no fence.

    Of several blocks, return the last one that defines one of `names`, which the tests use, or else
    the last one. A text that Python can parse is returned unchanged. With only one fence, the code
    is before it if that parses, else after it.

    >>> code_in("So:\\n```python\\nx = 1\\n```\\nDone.")
    'x = 1\\n'
    """
    response = response.removeprefix("\ufeff")
    if is_code(response):
        return response
    response = _without_thinking(response)
    fences = [*_FENCE.finditer(response)]
    if not fences:
        return response
    if len(fences) == 1:
        before, after = response[: fences[0].start()], response[fences[0].end() + 1 :]
        return before if before.strip() and is_code(textwrap.dedent(before)) else after
    ends = [*(end.start() for end in fences[1::2]), len(response)]  # the last may lack its end
    blocks = [
        re.sub(f"^{start[1]}", "", response[start.end() + 1 : end], flags=re.MULTILINE)
        for start, end in zip(fences[::2], ends, strict=False)
    ]
    wanted = [block for block in blocks if not {*_DEFINITION.findall(block)}.isdisjoint(names)]
    return (wanted or blocks)[-1]


def is_code(text: str) -> bool:
    """Return whether Python can parse a text."""
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
