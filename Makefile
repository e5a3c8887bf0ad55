# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
SOURCES := pyproject.toml CMakeLists.txt $(wildcard cpp/* bindings/*)
PYTEST_ARGS ?= -n 2

.PHONY: demo test test-browser lint format bench bench-scale bench-instructions bench-instructions-update limits stubs clean

demo: $(STAMP)
	$(BIN)/python examples/demo.py

test: $(STAMP)
	$(BIN)/python -m pytest $(PYTEST_ARGS)

# The report in a real browser: Debian's Chromium, driven by Playwright.
test-browser: $(STAMP)
	command -v chromium > /dev/null || apt-get install -y --no-install-recommends chromium fonts-dejavu-core
	$(BIN)/python -m pip install --quiet "playwright>=1.40"
	PARSIFAL_BROWSER=$$(command -v chromium) $(BIN)/python -m pytest tests/reporting/test_browser.py

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run --Werror cpp/* bindings/*

format: $(STAMP)
	-$(BIN)/ruff check --fix --quiet .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i cpp/* bindings/*

bench: $(STAMP)
	$(BIN)/python -m benchmarks.run

bench-scale: $(STAMP)
	$(BIN)/python -m benchmarks.scale

# Instructions of small solves under valgrind, beside benchmarks/baselines/instructions.json.
bench-instructions: $(STAMP)
	$(BIN)/python -m benchmarks.instructions

bench-instructions-update: $(STAMP)
	$(BIN)/python -m benchmarks.instructions --update

# Whether time limits, Ctrl-C and memory limits hold; ten minutes of an idle machine.
limits: $(STAMP)
	$(BIN)/python -m benchmarks.limits

stubs: $(STAMP)
	$(BIN)/python -m nanobind.stubgen -m parsifal._core -o src/parsifal/_core.pyi

clean:
	rm -rf $(VENV) build dist

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

# Editable for the Python files, rebuilt when a C++ or build file changes; the build tools are in the venv, so a
# rebuild compiles only what changed.
$(STAMP): $(VENV)/bin/python $(SOURCES)
	$(BIN)/python -m pip install --quiet "scikit-build-core>=0.10" "nanobind>=2.2" "cmeel-eigen>=3.4" "cmake>=3.20" "ninja>=1.11"
	$(BIN)/python -m pip install --quiet --no-build-isolation -e ".[dev]"
	$(BIN)/python -m pip install --quiet --no-deps "ISLP>=0.4"
	touch $@
