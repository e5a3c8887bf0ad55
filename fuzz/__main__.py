"""`python -m fuzz`: coverage-guided fuzzing of every target with atheris, or plain mutation where it is not installed.

Each target runs in a process of its own, with a limit on its memory. What is found is kept in the folder, and
``python -m fuzz --target NAME --replay FILE`` repeats it.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

_MEMORY = 2 << 30


def main() -> int:
    """Run all targets one after the other; 1 if anything was found."""
    args = _parser().parse_args()
    if args.replay is not None or args.seconds is not None:
        return _work(args)
    from fuzz.targets import TARGETS

    names = [args.target] if args.target else list(TARGETS)
    each = 60.0 * args.minutes / len(names)
    found = 0
    for name in names:
        command = [sys.executable, "-m", "fuzz", "--target", name, "--seconds", f"{each:g}", "--seed", str(args.seed)]
        command += ["--out", str(args.out)] + (["--plain"] if args.plain else [])
        before = _findings(args.out, name)
        log = args.out / f"{name.replace(' ', '-')}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        with open(log, "wb") as output:
            code = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, timeout=each + 300).returncode
        new = _findings(args.out, name) - before
        last = [
            line for line in log.read_text(errors="replace").splitlines() if line.startswith("runs: ") or "DONE" in line
        ]
        print(
            f"{name}: {len(new)} findings, exit code {code}, {last[-1].strip() if last else 'see ' + str(log)}",
            flush=True,
        )
        found += len(new) or int(code != 0)
    return 1 if found else 0


def _findings(folder: Path, name: str) -> set[Path]:
    return set((folder / name.replace(" ", "-")).glob("found-*"))


def _work(args: argparse.Namespace) -> int:
    """One target in this process."""
    if not args.plain and args.replay is None:
        try:
            import atheris
        except ImportError:
            print("atheris is not installed: mutation without coverage", flush=True)
        else:
            # Only what parses in Python is instrumented; before the targets import it.
            with atheris.instrument_imports(include=["parsifal", "zipfile", "json", "numpy.lib.format"]):
                from fuzz.targets import TARGETS as _  # noqa: F401
            return _guided(args, atheris)
    if args.replay is not None:
        return 1 if _Once(args.target, args.out).run(args.replay.read_bytes()) else 0
    return _plain(args)


class _Once:
    """Runs a target on bytes, in a fresh folder, and keeps what it finds."""

    def __init__(self, name: str, out: Path) -> None:
        from fuzz.guard import limit_memory
        from fuzz.targets import TARGETS

        warnings.simplefilter("ignore")
        self.name, self.target = name, TARGETS[name]
        self.out = (out / name.replace(" ", "-")).resolve()
        self.runs = self.refused = 0
        self.found: set[str] = set()
        with tempfile.TemporaryDirectory() as folder:
            self.good = self.target.good(Path(folder))
            self.target.read(self.good, Path(folder))  # imports what it needs, before anything is forbidden
        limit_memory(_MEMORY)

    def run(self, content: bytes) -> bool:
        """Whether something was found; one of a kind is kept."""
        from fuzz.guard import Violation, guarded
        from parsifal import ParsifalError

        self.runs += 1
        with tempfile.TemporaryDirectory() as folder:
            try:
                with guarded(Path(folder)):
                    self.target.read(content, Path(folder))
                return False
            except ParsifalError as error:
                self.refused += 1
                if str(error).strip():
                    return False
                kind = "an error without a message"
            except (Exception, Violation) as error:
                last = traceback.extract_tb(error.__traceback__)[-1]
                kind = f"{type(error).__name__} in {Path(last.filename).name}:{last.lineno}: {str(error)[:200]}"
        key = kind.split(":")[0] + kind.split(":")[1][:6]
        if key not in self.found:
            self.found.add(key)
            self.out.mkdir(parents=True, exist_ok=True)
            path = self.out / f"found-{hashlib.sha256(content).hexdigest()[:12]}"
            path.write_bytes(content)
            path.with_name(path.name + ".txt").write_text(kind + "\n" + traceback.format_exc(), encoding="utf-8")
            print(f"FOUND {path}: {kind}", flush=True)
        return True


def _plain(args: argparse.Namespace) -> int:
    """Mutations of the good bytes, and of those that were taken."""
    from fuzz.mutate import mutate

    once, rng = _Once(args.target, args.out), random.Random(args.seed)
    deadline = time.monotonic() + args.seconds
    pool = [once.good]
    while time.monotonic() < deadline:
        content, refused = mutate(rng, rng.choice(pool), once.good), once.refused
        if not once.run(content) and once.refused == refused and len(content) < 1 << 16:
            pool.append(content)
            pool = pool[:1] + pool[-50:]
    print(f"runs: {once.runs}, refused: {once.refused}, kinds found: {len(once.found)}", flush=True)
    return 1 if once.found else 0


def _guided(args: argparse.Namespace, atheris: object) -> int:
    """libFuzzer, with the mutations that know archives and JSON as its mutator."""
    from fuzz.mutate import mutate

    once = _Once(args.target, args.out)
    corpus = Path(tempfile.mkdtemp(prefix="parsifal-corpus-"))
    (corpus / "good").write_bytes(once.good)

    def mutator(content: bytes, most: int, seed: int) -> bytes:
        rng = random.Random(seed)
        if rng.random() < 0.3:
            return atheris.Mutate(content, most)  # type: ignore[attr-defined]
        return mutate(rng, content, once.good)[:most]

    def one(content: bytes) -> None:
        once.run(content)
        if time.monotonic() > deadline:
            print(f"runs: {once.runs}, refused: {once.refused}, kinds found: {len(once.found)}", flush=True)
            os._exit(1 if once.found else 0)

    deadline = time.monotonic() + args.seconds
    options = [
        sys.argv[0],
        str(corpus),
        f"-seed={args.seed + 1}",
        f"-max_len={1 << 16}",
        "-rss_limit_mb=4096",
        "-timeout=60",
    ]
    options += [f"-artifact_prefix={once.out}-crash-", "-print_final_stats=1"]
    atheris.Setup(options, one, custom_mutator=mutator)  # type: ignore[attr-defined]
    atheris.Fuzz()  # type: ignore[attr-defined]
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=12.0, help="for all targets together (default: 12)")
    parser.add_argument("--target", help="only this one")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plain", action="store_true", help="mutation without coverage")
    parser.add_argument("--replay", type=Path, help="a file that was found")
    parser.add_argument("--seconds", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, default=Path("build/fuzz"), help="folder for what is found")
    return parser


if __name__ == "__main__":
    sys.exit(main())
