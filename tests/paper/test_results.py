"""The results file: torn lines, strangers, processes that are killed, and two at the same time."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from parsifal import DataError
from parsifal.paper.results import ResultsFile, key_of, select

# A stand-in for an experiment whose runs take a moment each.
PROGRAM = """
import os, sys, time
from pathlib import Path
from parsifal.paper.options import Options
from parsifal.paper.runner import run_tasks

def measure(task):
    time.sleep(0.01)
    with open(sys.argv[2], "a") as log:
        log.write(f"{task['i']}\\n")
    return {"square": task["i"] ** 2, "text": "x" * 500}

tasks = [{"part": "test", "n": 1, "i": i} for i in range(int(sys.argv[3]))]
rows = run_tasks("test", tasks, measure, Options(out=Path(sys.argv[1]), progress=False))
assert [row["result"]["square"] for row in rows] == [i ** 2 for i in range(len(tasks))]
"""


def start(out: Path, log: Path, count: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", PROGRAM, str(out), str(log), str(count)])


def test_rows_come_back_in_the_order_of_the_tasks(tmp_path: Path) -> None:
    tasks = [{"i": i} for i in range(3)]
    with ResultsFile(tmp_path / "new" / "test.jsonl", "test") as file:
        for task in reversed(tasks):
            file.append({"task": task, "result": {"value": task["i"]}})
        assert [row["result"]["value"] for row in select(file.rows(), tasks)] == [0, 1, 2]
        assert [row["result"]["value"] for row in select(file.rows(), [{"i": 7}, {"i": 1}])] == [1]


def test_first_row_of_a_task_counts(tmp_path: Path) -> None:
    with ResultsFile(tmp_path / "test.jsonl", "test") as file:
        file.append({"task": {"a": 1, "b": 2}, "result": 1})
        file.append({"task": {"b": 2, "a": 1}, "result": 2})
        assert [row["result"] for row in file.rows().values()] == [1]


def test_a_torn_line_is_skipped_wherever_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "test.jsonl"
    with ResultsFile(path, "test") as file:
        file.append({"task": {"i": 0}, "result": 0})
        whole = path.read_bytes()
        for cut in range(1, len(whole)):
            path.write_bytes(whole + whole[:cut].replace(b'"i": 0', b'"i": 1'))
            seen = {json.loads(key)["i"] for key in file.rows()}
            assert seen == ({0, 1} if cut == len(whole) - 1 else {0})  # without its newline the last row is whole
            file.append({"task": {"i": 2}, "result": 2})
            assert seen | {2} == {json.loads(key)["i"] for key in file.rows()}


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "test.jsonl"
    path.write_text("a,b,c\n1,2,3\n")
    with ResultsFile(path, "test") as file, pytest.raises(DataError, match="line 1"):
        file.rows()
    path.write_text('{"experiment": "other", "task": {}}\n')
    with ResultsFile(path, "test") as file, pytest.raises(DataError, match="not a result of test"):
        file.rows()
    with pytest.raises(DataError, match="choose another --out"):
        ResultsFile(path / "below-a-file.jsonl", "test")


def test_a_run_is_claimed_by_one_process_and_given_up_when_it_dies(tmp_path: Path) -> None:
    path, task = tmp_path / "test.jsonl", {"i": 1}
    code = (
        "import sys, time; from pathlib import Path; from parsifal.paper.results import ResultsFile\n"
        f"file = ResultsFile(Path({str(path)!r}), 'test'); print(file.claim({task!r}), flush=True); time.sleep(60)"
    )
    with ResultsFile(path, "test") as file:
        assert file.claim({"i": 2})
        other = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        try:
            assert other.stdout is not None
            assert other.stdout.readline().strip() == "True"
            assert not file.claim(task)
            assert file.claim({"i": 3})
        finally:
            other.send_signal(signal.SIGKILL)
            other.communicate()
        assert file.claim(task)


def test_killed_at_random_moments(tmp_path: Path) -> None:
    count, log = 40, tmp_path / "log"
    moments = random.Random(0)
    kills = 0
    for _ in range(4):
        process = start(tmp_path, log, count)
        deadline = time.monotonic() + 60
        before = log.stat().st_size if log.exists() else 0
        # Some way into its work, whatever the machine's speed.
        while process.poll() is None and time.monotonic() < deadline:
            if log.exists() and log.stat().st_size > before + moments.randrange(2, 20):
                time.sleep(moments.random() * 0.02)
                process.kill()
                break
            time.sleep(0.001)
        kills += process.wait() == -signal.SIGKILL
    assert kills >= 2
    assert start(tmp_path, log, count).wait() == 0
    runs = log.read_text().split()
    # Every run was done, and at most the one that a kill interrupted was done twice.
    assert set(runs) == {str(i) for i in range(count)}
    assert len(runs) <= count + kills
    with ResultsFile(tmp_path / "test.jsonl", "test") as file:
        assert len(file.rows()) == count


def test_two_processes_share_the_work(tmp_path: Path) -> None:
    count, log = 60, tmp_path / "log"
    processes = [start(tmp_path, log, count) for _ in range(2)]
    assert [process.wait() for process in processes] == [0, 0]
    lines = (tmp_path / "test.jsonl").read_text().splitlines()
    assert len(lines) == count
    assert len({key_of(json.loads(line)["task"]) for line in lines}) == count
    assert sorted(log.read_text().split(), key=int) == [str(i) for i in range(count)]
