"""Speed, measured: `python -m benchmarks.run` runs everything, `--quick` at sizes of a smoke test."""
