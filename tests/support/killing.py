"""A process that dies by SIGKILL before its n-th write to the ledger, for real.

A write is every INSERT, UPDATE and DELETE, and every begin and end of a transaction; to die before
a read leaves what dying before the next write does. The child is a fork that opens everything anew, so nothing of the parent's connections is shared.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

from memgate_core.ledger.runner import Runner

SURVIVED, RAISED = 0, 70


def dies_before_write(number: int, work: Callable[[Callable[[], None]], None]) -> bool:
    """Runs `work` in a child that is killed before write `number`; True when it was killed.

    `work` gets a function to call when the counting shall begin. False: it came to its end first.

    Raises:
        AssertionError: the child failed otherwise.
    """
    pid = os.fork()
    if pid == 0:
        _child(number, work)
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == SURVIVED, f"the child ended with {os.WEXITSTATUS(status)}"
    return False


def _child(number: int, work: Callable[[Callable[[], None]], None]) -> None:
    """Never returns: no exit handler of the parent's may run here."""
    status = RAISED
    try:
        work(lambda: _count_down(number))
        status = SURVIVED
    except BaseException as fault:
        os.write(2, f"{type(fault).__name__}: {fault}\n".encode())
    finally:
        os._exit(status)


def _count_down(number: int) -> None:
    left = number

    def counted(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(self: Runner, *args: Any) -> Any:
            nonlocal left
            left -= getattr(args[0], "is_dml", isinstance(args[0], str))
            if left <= 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return method(self, *args)

        return call

    for name in ("_execute", "many", "script"):
        setattr(Runner, name, counted(getattr(Runner, name)))
