# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
CXX_FILES := $(wildcard cpp/*.?pp bindings/*.?pp bindings/*/*.?pp)
SOURCES := pyproject.toml CMakeLists.txt $(CXX_FILES)
PYTEST_ARGS ?= -n 2

.PHONY: demo test test-browser lint format bench bench-scale bench-quick bench-full peers test-peers stress fuzz crash stubs clean
.PHONY: sanitize sanitize-address sanitize-undefined sanitize-both sanitize-thread lock wheels
.PHONY: bench-instructions bench-instructions-update limits

demo: $(STAMP)
	$(BIN)/python examples/demo.py

test: $(STAMP)
	$(BIN)/python -m pytest $(PYTEST_ARGS)

# The report in a real browser: Debian's Chromium, driven by Playwright.
test-browser: $(STAMP)
	command -v chromium > /dev/null || apt-get install -y --no-install-recommends chromium fonts-dejavu-core
	$(PIP_LOCKED) -r requirements/browser.lock
	PARSIFAL_BROWSER=$$(command -v chromium) $(BIN)/python -m pytest tests/reporting/test_browser.py

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run --Werror $(CXX_FILES)

format: $(STAMP)
	-$(BIN)/ruff check --fix --quiet .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CXX_FILES)

bench: $(STAMP)
	$(BIN)/python -m benchmarks.run

bench-scale: $(STAMP)
	$(BIN)/python -m benchmarks.scale

# Parsifal beside its peers, each in an environment of its own below .peers; a run that was stopped goes on.
peers: $(STAMP)
	$(BIN)/python -m benchmarks.suite.environments

test-peers: peers
	PARSIFAL_PEERS=1 $(BIN)/python -m pytest -q tests/test_suite_peers.py

bench-quick: $(STAMP) peers
	$(BIN)/python -m benchmarks.suite --plan quick --fresh

bench-full: $(STAMP) peers
	$(BIN)/python -m benchmarks.suite --plan full

# kill -9 and SIGTERM at 50 random moments of each command, then the same answer as without: about half an hour.
crash: $(STAMP)
	$(BIN)/python -m stress.crash

# Random problems through every method, see docs/testing.md: MINUTES=60, or PROBLEMS=20000; SEED=1 START=500 to go on.
MINUTES ?= 10
stress: $(STAMP)
	$(BIN)/python -m stress --minutes $(MINUTES) $(if $(PROBLEMS),--problems $(PROBLEMS)) $(if $(SEED),--seed $(SEED)) $(if $(START),--start $(START)) $(if $(JOBS),--jobs $(JOBS))

# Changed bytes through everything that reads bytes. atheris guides it by coverage; without it the bytes change blindly.
fuzz: $(STAMP)
	$(BIN)/python -c "import atheris" 2> /dev/null || $(BIN)/python -m pip install --quiet "atheris>=2.3" || true
	$(BIN)/python -m fuzz --minutes $(MINUTES)

# Instructions of small solves under valgrind, beside benchmarks/baselines/instructions.json.
bench-instructions: $(STAMP)
	$(BIN)/python -m benchmarks.instructions

bench-instructions-update: $(STAMP)
	$(BIN)/python -m benchmarks.instructions --update

# Whether time limits, Ctrl-C and memory limits hold; a quarter of an hour of an idle machine.
limits: $(STAMP)
	$(BIN)/python -m benchmarks.limits

stubs: $(STAMP)
	$(BIN)/python -m nanobind.stubgen -m parsifal._core -o src/parsifal/_core.pyi

# The tests on the compiled core under the compiler's sanitizers (docs/releasing.md).
sanitize: sanitize-both sanitize-thread

sanitize-address sanitize-undefined sanitize-both sanitize-thread: sanitize-%: $(STAMP)
	$(BIN)/python scripts/sanitize.py $*

# uv is only needed here, and in an environment of its own.
lock:
	test -x build/lock/bin/uv || ($(PYTHON) -m venv build/lock && build/lock/bin/python -m pip install --quiet "uv>=0.5")
	UV=build/lock/bin/uv scripts/lock.sh

wheels: $(STAMP)
	$(BIN)/python scripts/build_wheels.py

clean:
	rm -rf $(VENV) build dist

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# Only files whose hashes are in the lock files are installed; `make lock` renews them (docs/releasing.md).
PIP_LOCKED := $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes

$(VENV)/.locked: $(VENV)/bin/python requirements/dev.lock requirements/data.lock
	$(PIP_LOCKED) -r requirements/dev.lock
	$(PIP_LOCKED) --no-deps -r requirements/data.lock
	touch $@

# Editable for the Python files, rebuilt when a C++ or build file changes; the build tools are in the venv, so a
# rebuild compiles only what changed.
$(STAMP): $(VENV)/.locked $(SOURCES)
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	touch $@
