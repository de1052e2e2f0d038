"""Call checkers that are async functions from threads."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

CONCURRENT_CALLS = 32
"""How many calls of an async checker run at the same time, unless an executor is given."""


def is_async(checker: Any) -> bool:
    """Whether a checker is an async function, or an object whose call is one."""
    call = getattr(checker, "__call__", None)  # noqa: B004
    return inspect.iscoroutinefunction(checker) or inspect.iscoroutinefunction(call)


@contextmanager
def threads_for(
    checker: Callable[..., Any], executor: Executor | None
) -> Iterator[tuple[Callable[..., Any], Executor]]:
    """Give a function that calls an async checker and waits, and an executor to call it in.

    All calls run in one event loop, in a thread of its own, so that this also works where a loop
    is running already, as in a notebook. Calls that have not finished in the end are cancelled.
    """
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    threads = executor or ThreadPoolExecutor(CONCURRENT_CALLS)

    def call(*arguments: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(checker(*arguments), loop).result()

    async def cancel_calls() -> None:
        calls = asyncio.all_tasks() - {asyncio.current_task()}
        for each in calls:
            each.cancel()
        await asyncio.gather(*calls, return_exceptions=True)

    try:
        yield call, threads
    finally:
        asyncio.run_coroutine_threadsafe(cancel_calls(), loop).result()
        if executor is None:
            threads.shutdown(cancel_futures=True)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
