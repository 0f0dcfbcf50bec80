"""The attack: forged models, mutated tables, plans and confusion matrices do no harm; a small sample of it, and all in `make slow`.

It runs in a process of its own, whose trials are forked from it: see `tests.attack.__main__`.
"""

import json
import os
import subprocess
import sys

import pytest

COUNTS = {"models": 2000, "tables": 3000, "plans": 500, "matrices": 500}

pytestmark = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="trials are watched as only Linux can")


def attack(*arguments):
    done = subprocess.run([sys.executable, "-m", "tests.attack", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-3000:]
    return done.stdout


def test_a_sample_of_the_attack_does_no_harm():
    said = attack("--share", 0.006, "--models", 3, "--seed", 1)
    assert [line.partition(":")[0] for line in said.splitlines()] == list(COUNTS)
    assert said.count("0 trials went wrong") == len(COUNTS)


@pytest.mark.slow
@pytest.mark.parametrize("kind", COUNTS)
def test_the_attack_does_no_harm(kind):
    assert f"{kind}: {COUNTS[kind]:,} trials, seed 0: " in attack(kind)


_SCRIPT = """
import json, os, sys
import headcount.cli.app as app
from tests.attack.trial import Trial
from tests.attack.watch import run_trials
codes, said = json.loads(sys.argv[1]), []
for code in codes:
    app.main = lambda: exec(code)
    trial = Trial({"in.csv": b"a"}, [["x"]], frozenset({"out.csv"}))
    (_, _, result), = run_trials([0], lambda _: trial)
    said.append("; ".join(result.wrong))
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def noticed():
    """What is noticed of each harm, where code stands for a command; in another process, as one that forks needs one thread."""
    codes = [code for code, _ in HARM]
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, json.dumps(codes)], capture_output=True, text=True, check=True
    )
    return dict(zip(codes, json.loads(done.stdout.splitlines()[-1]), strict=True))


HARM = [
    ("sys.exit(2)", "not a sentence"),
    ("sys.stderr.write('headcount: No such file.\\n'); sys.exit(2)", ""),
    ("sys.stderr.write('headcount: Unable to allocate 7 TiB.\\n'); sys.exit(2)", "memory"),
    ("sys.stderr.write('x.py:1: RuntimeWarning: overflow\\n')", "traceback in words"),
    ("sys.exit(1)", "exit code 1"),
    ("print('\\x1b[31m')", "control characters"),
    ("{}['a']", "KeyError: 'a'"),
    ("os.abort()", "crash: signal 6"),
    ("bytearray(3 * 2**30)", "MemoryError"),
    ("open('in.csv', 'w').close()", "file changed: in.csv"),
    ("os.remove('in.csv')", "file removed: in.csv"),
    ("open('other.csv', 'w').close()", "file made: other.csv"),
    ("open('out.csv', 'w').close()", ""),
    ("open('../../headcount-elsewhere', 'w').close(); os.remove('../../headcount-elsewhere')", "event: open"),
    ("os.system('true')", "event: os.system"),
]


@pytest.mark.parametrize(("code", "words"), HARM)
def test_harm_is_noticed(noticed, code, words):
    said = noticed[code]
    assert words in said
    assert bool(said) == bool(words)
