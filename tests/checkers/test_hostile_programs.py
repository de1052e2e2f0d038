"""Programs that try to pass without solving the question, or to disturb the others.

All run in one sandbox, one after another, each before a correct program that must still pass.
"""

import os
import socket
import threading
from functools import cache
from pathlib import Path

import pytest
from at_k.checkers import python_tests

TESTS = """def check(candidate):
    assert candidate(2) == 4
    assert abs(candidate(3) - 9) < 0.1
"""
REFERENCE = {"test": TESTS, "entry_point": "square"}
WRONG = "def square(x):\n    return 0\n"
RIGHT = "def square(x):\n    return x * x\n"

FORGED = {
    "leaves with success while it is defined": ("import sys; sys.exit(0)", "SystemExit: 0"),
    "ends its process": ("import os; os._exit(0)", "ended its process, with exit status 0"),
    "becomes a program that succeeds": (
        "import os; os.execv('/bin/true', ['true'])",
        "ended its process, with exit status 0",
    ),
    "swallows all exceptions": (
        "def square(x):\n    try:\n        raise AssertionError\n    except BaseException:\n"
        "        return None",
        "AssertionError: assert candidate(2) == 4",
    ),
    "replaces a builtin function": (
        "import builtins\nbuiltins.abs = builtins.len = lambda x: 4\n" + WRONG,
        "",
    ),
    "replaces exec, compile and the functions that write": (
        "import builtins, os, sys\nbuiltins.exec = builtins.compile = lambda *x: None\n"
        "os.write = lambda *x: 1\nos._exit = lambda x: None\n"
        "sys.modules['__main__'].__dict__.clear()\n" + WRONG,
        "",
    ),
    "defines check": (WRONG + "def check(candidate):\n    pass\n", "AssertionError"),
    "rewrites the code of all functions of the server": (
        "import sys, types\nfor value in list(vars(sys.modules['__main__']).values()):\n"
        "    if isinstance(value, types.FunctionType):\n"
        "        value.__code__ = (lambda *x, **y: b'').__code__.replace(co_freevars=())\n" + WRONG,
        "",
    ),
    "walks the frames in the test": (
        "import os, sys\ndef square(x):\n    frame = sys._getframe()\n    while frame:\n"
        "        for value in list(frame.f_locals.values()):\n"
        "            for number in range(20):\n"
        "                try:\n                    os.write(number, bytes(value))\n"
        "                except Exception:\n                    pass\n"
        "        frame = frame.f_back\n    os._exit(0)",
        "exit status 0",
    ),
    "lists all objects for what is expected": (
        "import gc\ndef square(x):\n    for thing in gc.get_objects():\n"
        "        if 'candidate' in repr(type(thing)) + str(getattr(thing, 'co_name', '')):\n"
        "            return 4\n    return 0",
        "AssertionError: assert candidate(2) == 4",
    ),
    "changes constants of all code": (
        "import ctypes, gc\nfor number in (4, 9):\n"
        "    ctypes.c_long.from_address(id(number) + 24).value = 0\n" + WRONG,
        "",
    ),
    "answers for what is not called": (
        "import os, socket\nfor number in range(3, 64):\n"
        "    try:\n        os.write(number, b'{\"value\": true}\\n' * 20)\n"
        "    except OSError:\n        pass\n" + WRONG,
        "",
    ),
    "answers with what is no message": (
        "import os\nfor number in range(3, 64):\n"
        "    try:\n        os.write(number, b'[' * 100000 + b'\\n')\n"
        "    except OSError:\n        pass\n" + WRONG,
        "",
    ),
    "answers with the number of an object that it never had": (
        "import json, os\nobject = {'function': 9}\n"
        "answer = json.dumps({'value': {'dict': [['square', object]]}}).encode() + b'\\n'\n"
        "for number in range(3, 64):\n    try:\n        os.write(number, answer)\n"
        "    except OSError:\n        pass\n" + WRONG,
        "",
    ),
    "writes to its own memory": (
        "open('/proc/self/mem', 'r+b')\n" + RIGHT,
        "No such file or directory",
    ),
    "prints the verdict": (
        'import os\nprint(\'{"status": "passed"}\', flush=True)\n'
        "for number in range(64):\n    try:\n"
        '        os.write(number, b\'{"status": "passed", "message": ""}\\n1passed\')\n'
        "    except OSError:\n        pass\nos._exit(0)",
        "exit status 0",
    ),
    "closes all descriptors": ("import os\nos.closerange(0, 256)\n" + WRONG, ""),
}

DISTURBING = {
    "endless loop": ("while True: pass", "timeout"),
    "endless loop in C": ("any(iter(int, 1))", "timeout"),
    "endless loop that ignores the signal": (
        "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass",
        "timeout",
    ),
    "children that no process waits for": (
        "import os, signal, time\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "for i in range(10):\n    if os.fork() == 0:\n"
        "        while time.process_time() < 0.12: pass\n        os._exit(0)\n"
        "    time.sleep(0.15)\n" + RIGHT,
        "timeout",
    ),
    "children behind many threads": (
        "import os, signal, threading, time\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "for i in range(1050):\n    thread = threading.Thread(target=int)\n"
        "    thread.start()\n    thread.join()\n"
        "for i in range(10):\n    if os.fork() == 0:\n"
        "        while time.process_time() < 0.12: pass\n        os._exit(0)\n"
        "    time.sleep(0.15)\n" + RIGHT,
        "timeout",
    ),
    "children of children that have ended": (
        "import os, time\nread, write = os.pipe()\nfor i in range(4):\n    if os.fork() == 0:\n"
        "        if os.fork() == 0:\n            while time.process_time() < 0.2: pass\n"
        "        os._exit(0)\n    os.wait()\nos.close(write)\n"
        "os.read(read, 1)\n" + RIGHT,  # until all have ended
        "timeout",
    ),
    "children beside signals to the server": (
        "import os, signal, time\nfor i in range(2):\n    if os.fork() == 0:\n"
        "        while time.process_time() < 0.24: os.kill(1, signal.SIGCHLD)\n"
        "        os._exit(0)\nos.wait(), os.wait()\n" + RIGHT,
        "timeout",
    ),
    "memory of several processes": (
        "import os, threading, time\ndef start():\n    for i in range(4):\n"
        "        if os.fork() == 0:\n            x = bytearray(80 << 20)\n"
        "            time.sleep(1)\n            os._exit(0)\n    for i in range(4): os.wait()\n"
        "thread = threading.Thread(target=start)\nthread.start()\nthread.join()\n" + RIGHT,
        "memory",
    ),
    "a number to which the tests count": (
        "def square(x):\n    class Number(int): pass\n    return Number(9 ** 99)\n",
        "failed",
    ),
    "a value that is too long": ("def square(x): return 'x' * (1 << 26)", ("failed", "timeout")),
    "a process that answers beside it": ("import os\nos.fork()\n" + WRONG, "failed"),
    "50 GB of memory": ("x = bytearray(50 << 30)", "memory"),
    "50 GB of output": ("while True: print('x' * 1000000)", "timeout"),
    "50 GB in a file": (
        "with open('file', 'w') as file:\n    while True: file.write('x' * 1000000)",
        "failed",
    ),
    "many files": (
        "for i in range(100000):\n    with open(str(i), 'w') as file: file.write('x' * 1000000)",
        ("failed", "timeout"),
    ),
    "recursion": ("def f(): f()\nf()", "failed"),
    "recursion in C": (
        "import sys\nsys.setrecursionlimit(10 ** 9)\nx = []\nfor i in range(10 ** 5): x = [x]\n"
        "repr(x)",
        ("crashed", "memory", "failed", "timeout"),
    ),
    "a segmentation fault": ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", "crashed"),
    "a signal without a name": ("import os\nos.kill(os.getpid(), 40)", "crashed"),
    "a fork bomb": (
        "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass",
        "timeout",
    ),
    "a fork bomb that leaves": (
        "import os\nif os.fork() == 0:\n    while True:\n        try:\n            os.fork()\n"
        "        except OSError:\n            pass\n",
        ("failed", "timeout"),
    ),
    "many threads": (
        "import threading, time\nfor i in range(1000):\n"
        "    threading.Thread(target=time.sleep, args=(60,)).start()",
        "failed",
    ),
    "signals to all": (
        "import os, signal\nos.kill(-1, signal.SIGTERM)\nos.kill(-1, signal.SIGKILL)",
        ("failed", "crashed"),
    ),
    "signals to the server": (
        "import os, signal\nfor number in range(1, 65):\n"
        "    if number not in (signal.SIGKILL, signal.SIGSTOP): os.kill(1, number)\n"
        "os.kill(1, signal.SIGKILL)\nos.kill(1, signal.SIGSTOP)",
        "failed",
    ),
    "a stopped examiner": ("import os, signal\nos.kill(2, signal.SIGSTOP)\n" + WRONG, "failed"),
    "other limits for the server": (
        "import os, resource\nfor limit in range(16):\n    try:\n"
        "        resource.prlimit(1, limit, (0, 0))\n    except OSError:\n        pass\n"
        "os.setpriority(os.PRIO_PROCESS, 1, 19)",
        "failed",
    ),
    "memory of files without a name": (
        "import os\nwhile True: os.write(os.memfd_create('x'), bytes(1 << 24))",
        "failed",
    ),
    "a process in a session of its own": (
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
        "        while True: time.sleep(0.01)\n    os._exit(0)\n",
        "failed",
    ),
    "a thread that goes on": (
        "import threading, time\nthreading.Thread(target=time.sleep, args=(99,)).start()\n",
        "failed",
    ),
    "undeletable folders": (
        "import os\nos.makedirs('a/b/c')\nopen('a/b/c/d', 'w').close()\nos.chmod('a/b', 0)\n"
        "os.chmod('a', 0)",
        "failed",
    ),
    "deep folders": (
        "import os\nfor i in range(3000):\n    os.mkdir('a')\n    os.chdir('a')",
        "failed",
    ),
    "a lone surrogate": ("x = '\ud800'", "failed"),
    "an exception that cannot be shown": (
        "class E(Exception):\n    def __str__(self): raise self\nraise E",
        "failed",
    ),
}


@cache
def records(names, timeout=0.3):
    programs = []
    for name in names:
        program = FORGED[name][0] if name in FORGED else DISTURBING[name][0]
        programs += [program, RIGHT + f"# after {name}"]
    checker = python_tests(timeout=timeout, memory=256 * 10**6, workers=1)
    [row] = checker.run([programs], [REFERENCE])
    return dict(zip(names, zip(row[::2], row[1::2], strict=True), strict=True))


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_success_fails(name):
    record, after = records(tuple(FORGED))[name]
    assert record["status"] == "failed", record
    assert FORGED[name][1] in record["message"], record
    assert after["status"] == "passed", after


@pytest.mark.parametrize("name", DISTURBING)
def test_a_disturbing_program_has_its_status_and_harms_no_other(name):
    expected = DISTURBING[name][1]
    endless = tuple(each for each in DISTURBING if DISTURBING[each][1] == "timeout")
    others = tuple(each for each in DISTURBING if each not in endless)
    # A busy machine takes longer to fill memory: only endless programs have little CPU time.
    of_name = records(endless) if name in endless else records(others, timeout=3)
    record, after = of_name[name]
    assert record["status"] in ((expected,) if isinstance(expected, str) else expected), record
    assert after["status"] == "passed", after


OTHER_FORGERIES = {
    "a file that pytest would read": (
        "import pytest\n@pytest.mark.parametrize('x', [2])\ndef test(x): assert square(x) == 4\n",
        "hook = 'def pytest_pyfunc_call(pyfuncitem): return True'\n"
        "for name in ('conftest', '__init__'): open(f'/tmp/{name}.py', 'w').write(hook)\n" + WRONG,
    ),
    "a file that pytest.main would read": (
        "import pytest\ndef test(): assert square(2) == 4\n"
        "if __name__ == '__main__':\n    pytest.main()\n",
        "fake = 'sys.modules[\"sandboxed.runner\"].Result.fails = lambda *x: None'\n"
        "open('/tmp/conftest.py', 'w').write(f'import sys\\n{fake}\\n')\n" + WRONG,
    ),
    "a module that the tests do not import": (
        "assert math.isclose(square(3), 9, rel_tol=0.01)",
        "class math:\n    isclose = staticmethod(lambda *a, **k: True)\n" + WRONG,
    ),
    "a class in place of a function with a capital": (
        "assert Square(2) == 4",
        "class Square:\n    def __init__(self, x): pass\n"
        "    def __eq__(self, other): return True\n",
    ),
    "the name of the file of the tests": (
        "import sys\nassert square(2) == 4",
        "exec(compile('def square(x):\\n    raise SystemExit(0)', '<tests>', 'exec'))\n",
    ),
    "an exception class that is handed back": (
        "assert decode(encode('ab')) == 'ab'",
        "exec(compile('def decode(x):\\n    raise SystemExit(0)', '<tests>', 'exec'))\n"
        "def encode(x): return ValueError\n",
    ),
    "the functions that run the tests": (
        "import sys\nassert square(2) == 4",
        "import sys\nsys.modules['sandboxed.runner'].Result.fails = lambda *a, **k: None\n" + WRONG,
    ),
    "an object that says it is equal": (
        "assert square(2).equals(4)",
        "class Same:\n    def equals(self, other): return True\ndef square(x): return Same()\n",
    ),
}


def test_no_program_forges_a_pass_beside_a_module_that_tests_use():
    programs = [[program] for _, program in OTHER_FORGERIES.values()]
    tests = [tests for tests, _ in OTHER_FORGERIES.values()]
    programs += [["import math\n" + RIGHT]]  # which is there for the tests
    tests += ["assert math.isqrt(square(3)) == 3"]
    rows = python_tests(timeout=5, workers=2).run(programs, tests)
    statuses = [record["status"] for [record] in rows]
    assert statuses == ["failed"] * len(OTHER_FORGERIES) + ["passed"]


@pytest.mark.parametrize("user", ["root", "another user"])
def test_a_program_sees_no_secret_of_the_caller_and_no_network(user, monkeypatch):
    """A file of the home, the environment, and a server on this machine.

    The sandboxes of root and of other users differ.
    """
    if user == "root" and os.geteuid() != 0:
        pytest.skip("the tests run as another user")
    if user != "root":
        monkeypatch.setattr("os.geteuid", lambda: 1000)
    secret = Path.home() / ".at_k_secret_of_a_test"
    secret.write_text("secret")
    monkeypatch.setenv("HF_TOKEN", "secret")
    server = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=server.accept, daemon=True).start()
    port = server.getsockname()[1]
    programs = {
        f"text = open({str(secret)!r}).read()": "FileNotFoundError",
        f"import os\ntext = os.listdir({str(Path.home())!r})\nassert not text": None,
        "import os\nassert 'secret' not in str(dict(os.environ))\nraise OSError": "OSError",
        f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 5)": "Error",
        "import socket\nsocket.socket(socket.AF_VSOCK)": "family not supported",
        f"open({__file__!r})": "FileNotFoundError",
        "import os\nopen(os.__file__, 'a')": "Error",
        "open('/usr/at_k', 'w')": "Error",
        "open('/at_k', 'w')": "Error",
        "open('/etc/at_k', 'w')": "Error",
        "open('/dev/at_k', 'w')": "Error",
        "open('/etc/passwd')": "FileNotFoundError",
        "import os\nassert 0, f'user {os.getuid()}'": "user",
    }
    try:
        [row] = python_tests(workers=1).run([list(programs)], ["assert True"])
    finally:
        secret.unlink()
        server.close()
    for (program, message), record in zip(programs.items(), row, strict=True):
        if message is not None:
            assert record["status"] == "failed", (program, record)
            assert message in record["message"], (program, record)
    assert "user 0" not in row[-1]["message"] or user != "root"


def test_a_program_leaves_nothing_for_the_next_one():
    leaving = (
        "import os, pathlib, socket, subprocess, sys, tempfile\n"
        "pathlib.Path('left').write_text('x')\n"
        "pathlib.Path(tempfile.mkdtemp(), 'left').write_text('x')\n"
        "pathlib.Path('/dev/shm/left').write_text('x')\n"
        "os.symlink('/usr', 'link')\n"
        "server = socket.socket(socket.AF_UNIX)\nserver.bind('\\0left')\nserver.listen()\n"
        "subprocess.Popen(['sleep', '99'], start_new_session=True)\n"
        "import math\nmath.pi = 3\nimport builtins\nbuiltins.left = 1\nx = 1\n"
    )
    looking = (
        "import builtins, math, os, socket\n"
        "left = [*os.listdir('.'), *os.listdir('/tmp'), *os.listdir('/dev/shm')]\n"
        # Python may be installed in a folder of /tmp, such as that of `mktemp -d`.
        "made = [x for x in left if x[:3] == 'tmp' and x[3:4] != '.']\n"
        "assert not {'left', 'link'} & {*left} and not made\n"
        "assert math.pi > 3 and not hasattr(builtins, 'left')\n"
        "client = socket.socket(socket.AF_UNIX)\n"
        "try:\n    client.connect('\\0left')\nexcept OSError:\n    x = 1\n"
        "for number in range(3, os.getpid()):\n"  # 1 and 2 are the server and the examiner
        "    try:\n        os.kill(number, 0)\n        x = 0\n"
        "    except ProcessLookupError:\n        pass\n"
    )
    [row] = python_tests(workers=1).run([[leaving, looking, leaving, looking]], ["assert x == 1"])
    assert [record["status"] for record in row] == ["passed"] * 4, row


def test_a_program_has_no_file_of_its_sandbox_where_the_caller_has_many_open_files():
    looking = "import os\ndef is_open(number):\n    try: return bool(os.fstat(number))\n"
    looking += "    except OSError: return False\n"
    looking += "def count(): return sum(map(is_open, range(3, 2000)))\n"
    files = [os.open(os.devnull, os.O_RDONLY) for _ in range(300)]
    [[record]] = python_tests(workers=1).run([[looking]], ["assert count() == 1"])
    assert record["status"] == "passed", record  # the socket to its tests
    for file in files:
        os.close(file)


def test_a_call_does_not_know_the_expected_output():
    """It is in no object of the process, so a program that looks for it finds nothing."""
    program = (
        "import sys\ndef square(x):\n    frame, texts = sys._getframe(), []\n    while frame:\n"
        "        texts += [repr(frame.f_locals), repr(frame.f_globals)]\n"
        "        frame = frame.f_back\n"
        "    return '123456' + '789' in ''.join(texts)\n"
    )
    calls = {"entry_point": "square", "inputs": [[2]], "outputs": [123456789]}
    [[record]] = python_tests().run([[program]], [calls])
    assert record["message"] == "case 0: returned False, expected 123456789"


def test_tests_that_a_result_keeps_busy_end_with_their_program():
    """They run in another process, whose time and memory count as well."""
    tests = "assert len(range(n())) == 3 and len([*range(n())]) == 3 and sum(range(n())) == 3"
    programs = [f"def n(): return {number}" for number in ("3", "10 ** 9", "10 ** 18", "3 ")]
    gone = "import os, threading\ndef n():\n    threading.Timer(0.05, os._exit, [0]).start()\n"
    programs.insert(3, gone + "    return 10 ** 9\n")
    for sums in (tests, tests.replace("[*range(n())]", "range(3)").replace("len(range(n()))", "3")):
        [row] = python_tests(workers=1, timeout=0.3, memory=64 * 10**6).run([programs], [sums])
        assert [record["status"] for record in row[::4]] == ["passed", "passed"], row
        assert {record["status"] for record in row[1:4]} <= {"failed", "timeout", "memory"}, row


def test_a_program_may_start_processes():
    """Several may use as much memory together as one, and orphans that have ended do not count."""
    orphans = (
        "import os\nfor i in range(90):\n    child = os.fork()\n    if child == 0:\n"
        "        os.fork()\n        os._exit(0)\n    os.waitpid(child, 0)\n"
    )
    program = (
        "import os, time\ny = bytearray(60 << 20)\nfor i in range(5):\n    if os.fork() == 0:\n"
        "        time.sleep(0.3)\n        os._exit(0)\nfor i in range(5): os.wait()\n"
    )
    programs = [program + RIGHT, orphans + RIGHT]
    [row] = python_tests(workers=1, memory=10**8).run([programs], [REFERENCE])
    assert [record["status"] for record in row] == ["passed", "passed"], row
