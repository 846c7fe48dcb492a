"""Counts the system calls of a program without any other program: the kernel stops it at each and says which.

    python tests/support/system_calls.py COMMAND…

prints how often each call with a name in `NUMBERS` was made, by all threads and children, as JSON. That is
what strace does (`PTRACE_GET_SYSCALL_INFO`, Linux 5.3), which is not on every machine that runs the tests.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence

_OPENS = {"open", "openat", "openat2"}
_STATS = {
    "stat",
    "lstat",
    "newfstatat",
    "statx",
    "access",
    "faccessat",
    "faccessat2",
    "readlink",
    "readlinkat",
}
_LISTS = {"getdents64"}

NUMBERS: dict[str, dict[int, str]] = {
    "x86_64": {
        2: "open",
        4: "stat",
        6: "lstat",
        21: "access",
        89: "readlink",
        217: "getdents64",
        257: "openat",
        262: "newfstatat",
        267: "readlinkat",
        269: "faccessat",
        332: "statx",
        437: "openat2",
        439: "faccessat2",
    },
    "aarch64": {
        48: "faccessat",
        56: "openat",
        61: "getdents64",
        78: "readlinkat",
        79: "newfstatat",
        291: "statx",
        437: "openat2",
        439: "faccessat2",
    },
}
"""The calls that meet the file system by a path, or list a folder."""

KNOWN = sys.platform == "linux" and platform.machine() in NUMBERS
FORBIDDEN = 77
"""Exit status where the system lets nobody look."""

_TRACE_ME, _GO_ON, _SET_OPTIONS, _CALL_INFO = 0, 24, 0x4200, 0x420E
# Mark stops at calls; follow children, threads and what they start; end what is traced with the tracer.
_OPTIONS = 0x01 | 0x02 | 0x04 | 0x08 | 0x10 | 0x100000
_ANY_THREAD = 0x40000000
_ENTERED = 1


class ForbiddenError(Exception):
    """This system lets nobody look at what a program calls."""


def count(command: Sequence[str]) -> Counter[str]:
    """How often a command opens, looks at and lists files: `opens`, `stats`, `lists`.

    Raises:
        ForbiddenError: nobody may know.
    """
    tracer = [sys.executable, "-I", "-S", __file__, *command]
    done = subprocess.run(tracer, capture_output=True, text=True, check=False)
    if done.returncode == FORBIDDEN:
        raise ForbiddenError(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    calls = json.loads(done.stdout)
    kinds = {"opens": _OPENS, "stats": _STATS, "lists": _LISTS}
    return Counter({kind: sum(calls.get(name, 0) for name in names) for kind, names in kinds.items()})


class _Info(ctypes.Structure):
    """The beginning of the kernel's `struct ptrace_syscall_info`."""

    _fields_ = (
        ("op", ctypes.c_uint8),
        ("padding", ctypes.c_uint8 * 3),
        ("arch", ctypes.c_uint32),
        ("instruction_pointer", ctypes.c_uint64),
        ("stack_pointer", ctypes.c_uint64),
        ("number", ctypes.c_uint64),
        ("arguments", ctypes.c_uint64 * 7),
    )


class _Tracer:
    """The parent of what it traces."""

    def __init__(self) -> None:
        self._ptrace = ctypes.CDLL(None, use_errno=True).ptrace
        self._ptrace.restype = ctypes.c_long
        self._ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
        self._names = NUMBERS[platform.machine()]
        self._info = _Info()
        self.calls: Counter[str] = Counter()

    def start(self, command: Sequence[str]) -> int:
        """The stopped child that is about to become the command."""
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            if self._ptrace(_TRACE_ME, 0, None, None) < 0:
                os._exit(FORBIDDEN)
            os.kill(os.getpid(), signal.SIGSTOP)
            os.execvp(command[0], list(command))  # noqa: S606 - it is the command that is asked for
        _, status = os.waitpid(child, 0)
        if not os.WIFSTOPPED(status) or self._ptrace(_SET_OPTIONS, child, None, _OPTIONS) < 0:
            raise ForbiddenError("ptrace is not allowed here")
        return child

    def follow(self, child: int) -> int:
        """Count until nobody is left; gives the exit status of the child."""
        ended = 1
        self._ptrace(_GO_ON, child, None, None)
        while True:
            try:
                task, status = os.waitpid(-1, _ANY_THREAD)
            except ChildProcessError:
                return ended
            if os.WIFSTOPPED(status):
                self._ptrace(_GO_ON, task, None, self._stopped(task, status))
            elif task == child:
                ended = os.waitstatus_to_exitcode(status)

    def _stopped(self, task: int, status: int) -> int:
        """Notes a call; gives the signal that the task should go on with."""
        why = os.WSTOPSIG(status)
        if why == signal.SIGTRAP | 0x80:
            size = self._ptrace(_CALL_INFO, task, ctypes.sizeof(self._info), ctypes.addressof(self._info))
            if size < 0:
                raise ForbiddenError("the kernel does not say which call it is")
            if self._info.op == _ENTERED and self._info.number in self._names:
                self.calls[self._names[self._info.number]] += 1
            return 0
        # A new thread begins with a stop; whatever else comes is for the program.
        return 0 if why in (signal.SIGTRAP, signal.SIGSTOP) else why


def main(command: Sequence[str]) -> int:
    """Run the command, and print what it called."""
    tracer = _Tracer()
    try:
        ended = tracer.follow(tracer.start(command))
    except ForbiddenError as error:
        sys.stderr.write(f"{error}\n")
        return FORBIDDEN
    sys.stdout.write(json.dumps(tracer.calls))
    return ended


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
