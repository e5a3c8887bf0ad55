"""Workers from outside: started when needed, asked, and killed when they do not answer in time."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import IO, Any

from benchmarks.peers.environments import ROOT, interpreter
from benchmarks.peers.solvers import SOLVERS, Job

START_LIMIT = 180.0  # seconds for import and compilation
FILE_LIMIT = 60.0  # seconds to read the data, and to save a proof
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)


def grace(time_limit: float) -> float:
    """Seconds past its limit after which a solver is killed."""
    return 1.5 + 0.2 * time_limit


class Worker:
    """One solver's process."""

    def __init__(self, name: str, *, threads: int, memory: int | None, cache: Path, log: Path) -> None:
        python = interpreter(SOLVERS[name].environment)
        environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(threads))}
        environment |= {"PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(cache), "PYTHONWARNINGS": "ignore"}
        if memory is not None:
            environment["SUITE_MEMORY"] = str(memory)
        self._messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._log = log.open("ab")
        self.version = ""
        started = perf_counter()
        self._process = subprocess.Popen(
            [str(python), "-m", "benchmarks.peers.worker", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            cwd=ROOT,
            env=environment,
            start_new_session=True,  # a group of its own, so that what it starts is killed with it
        )
        assert self._process.stdout is not None
        self._listener = threading.Thread(target=self._listen, args=(self._process.stdout,), daemon=True)
        self._listener.start()
        self.latency: float | None = None
        self.error: str | None = None
        while True:
            message = self._next(START_LIMIT - (perf_counter() - started))
            if message.get("event") == "warm" and self.latency is None:
                self.latency = perf_counter() - started
            elif message.get("event") == "ready":
                self.version = message["version"]
                return
            elif message.get("event") != "warm":
                self.error = message.get("error", "no answer")
                self.close()
                return

    def ask(self, job: Job) -> dict[str, Any]:
        """Send a job and wait; a worker that does not answer in time, or dies, is gone afterwards."""
        assert self._process.stdin is not None
        # Reading the data and saving the proof are not the solver's time.
        until_loaded = until_answered = FILE_LIMIT
        until_solved = job.time_limit + grace(job.time_limit)
        started = perf_counter()
        try:
            self._process.stdin.write(json.dumps(asdict(job)) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            self.error = "the process had ended"
            self.close()
            return {"error": self.error, "seconds": None}
        answer: dict[str, Any] = {}
        for limit in (until_loaded, until_solved, until_answered):
            answer = self._next(limit)
            if answer.get("event") not in ("loaded", "solved"):
                break
        if answer.get("event") != "answer":
            self.error = answer["error"]
            self.close()
            return {"error": self.error, "seconds": perf_counter() - started}
        return answer

    @property
    def alive(self) -> bool:
        return self.error is None and self._process.poll() is None

    def close(self) -> None:
        """Kill it and what it started; a second call does nothing."""
        if self._log.closed:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._listener.join()  # it ends with the pipe, which ends with the last process of the group
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        self._log.close()

    def _listen(self, stdout: IO[str]) -> None:
        try:
            for line in stdout:
                self._messages.put(json.loads(line))
        except ValueError:  # closed while waiting, or half a line from a process that was killed
            pass
        self._messages.put(None)

    def _next(self, timeout: float) -> dict[str, Any]:
        try:
            message = self._messages.get(timeout=max(timeout, 0.0))
        except queue.Empty:
            return {"event": "killed", "error": f"killed: no answer after {timeout:.0f} s"}
        if message is None:
            code = self._process.wait()
            return {"event": "died", "error": f"the process died ({_reason(code)})"}
        return message


class Crew:
    """All workers of a run; at most one of them has something to do at a time."""

    def __init__(self, *, threads: int, memory: int | None, log: Path) -> None:
        self._threads, self._memory, self._log = threads, memory, log
        self._workers: dict[str, Worker] = {}
        self._cache = Path(tempfile.mkdtemp(prefix="suite-numba-"))
        self.started: dict[str, dict[str, Any]] = {}  # latency, version or error of each solver's first start

    def ask(self, job: Job) -> dict[str, Any]:
        """Have a job solved."""
        worker = self.worker(job.solver)
        if not worker.alive:
            return {"error": f"does not start: {worker.error}", "seconds": None}
        return worker.ask(job)

    def worker(self, name: str) -> Worker:
        """The solver's process, started anew if it was killed."""
        worker = self._workers.get(name)
        if worker is None or (not worker.alive and "error" not in self.started[name]):
            if worker is not None:
                worker.close()
            worker = Worker(name, threads=self._threads, memory=self._memory, cache=self._cache / name, log=self._log)
            self._workers[name] = worker
            if name not in self.started:
                self.started[name] = (
                    {"latency": worker.latency, "version": worker.version}
                    if worker.error is None
                    else {"error": worker.error}
                )
        return worker

    def __enter__(self) -> Crew:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._workers.values():
            worker.close()
        shutil.rmtree(self._cache, ignore_errors=True)


def _reason(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
