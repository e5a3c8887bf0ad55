"""Run what is not in the results file yet, on one core, several, or a Dask cluster."""

from __future__ import annotations

import contextlib
import math
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from parsifal.deadline import usable_cores
from parsifal.errors import ParsifalError
from parsifal.paper.bar import Bar
from parsifal.paper.options import Options
from parsifal.paper.results import ResultsFile, Row, Task, key_of, select

Measure = Callable[[Task], dict[str, Any]]

# Seconds between looks at runs that another process is at.
_WAIT = 0.2


def run_tasks(experiment: str, tasks: Sequence[Task], measure: Measure, options: Options) -> list[Row]:
    """Measure every task that has no row yet, and return the rows of all, in order.

    Parameters
    ----------
    experiment : str
        Name; the results file is ``<options.out>/<name>.jsonl``.
    tasks : sequence of dict
        What to measure. A task is known by its content.
    measure : callable
        Takes a task, returns a dict of results; a function of a module, so that other processes can call it.
    options : Options
        Where and how.
    """
    with ResultsFile(options.out / f"{experiment}.jsonl", experiment) as file:
        done = file.rows()
        todo = [task for task in tasks if key_of(task) not in done]
        bar = Bar(experiment, len(tasks), len(tasks) - len(todo), active=options.progress)
        bar.expect(todo)
        with bar, _backend(options) as bar.workers:
            while todo:
                for task, result, seconds in _measured(file, todo, measure, bar.workers):
                    file.append({"task": task, "result": result, "run": _environment(seconds)})
                    file.release(task)
                    bar.tick(task, seconds)
                # What is left now, another process has done or is at.
                done = file.rows()
                todo = [task for task in todo if key_of(task) not in done]
                bar.others(len(tasks) - len(todo), todo)
                if todo:
                    time.sleep(_WAIT)
        return select(file.rows(), tasks)


def _measured(
    file: ResultsFile, todo: Sequence[Task], measure: Measure, workers: int
) -> Iterator[tuple[Task, dict[str, Any], float]]:
    """Measure what can be claimed; a task is claimed when it is handed out, not before."""
    from joblib import Parallel, delayed

    def claimed() -> Iterator[Any]:
        for task in todo:
            if file.claim(task):
                if key_of(task) in file.rows():
                    file.release(task)
                else:
                    yield delayed(_timed)(measure, task)

    # Nothing waits in a queue: what is claimed is being worked at.
    pool = Parallel(n_jobs=workers, pre_dispatch="n_jobs", batch_size=1, return_as="generator_unordered")
    yield from pool(claimed())


def _timed(measure: Measure, task: Task) -> tuple[Task, dict[str, Any], float]:
    started = time.perf_counter()
    result = measure(task)
    return task, _plain(result), time.perf_counter() - started


def _plain(value: Any) -> Any:
    """As JSON has it: no NumPy scalars, no infinities."""
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _environment(seconds: float) -> dict[str, Any]:
    from parsifal import __version__

    return {
        "parsifal": __version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cores": usable_cores(),
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "seconds": seconds,
    }


@contextlib.contextmanager
def _backend(options: Options) -> Iterator[int]:
    """The joblib backend: processes on this machine, or Dask's with the active client, or else a local one.

    Gives the number of runs at a time.
    """
    from joblib import parallel_config

    if not options.dask:
        with parallel_config(backend="loky", inner_max_num_threads=options.threads or 1):
            yield options.jobs
        return
    try:
        from dask.distributed import Client, LocalCluster
    except ImportError:
        raise ParsifalError('--dask needs dask.distributed; run: pip install "parsifal[dask]"') from None
    with contextlib.ExitStack() as stack:
        try:
            client = Client.current()
        except ValueError:
            cluster = stack.enter_context(
                LocalCluster(n_workers=options.jobs, threads_per_worker=1, dashboard_address=None)
            )
            client = stack.enter_context(Client(cluster))
        stack.enter_context(parallel_config(backend="dask", client=client))
        yield max(1, sum(client.nthreads().values()))
