# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
CXX_FILES := $(wildcard cpp/*/*.?pp bindings/*.?pp bindings/*/*.?pp tests/core/*.cpp)
SOURCES := pyproject.toml CMakeLists.txt $(CXX_FILES)
# Half of the tests to each process, in their order, so that what a file makes once is made once.
PYTEST_ARGS ?= -n 2 --dist worksteal

.PHONY: demo test test-browser lint format bench bench-scale bench-quick bench-full peers test-peers stress fuzz forge crash stubs clean
.PHONY: sanitize sanitize-address sanitize-undefined sanitize-both sanitize-thread lock wheels
.PHONY: bench-instructions bench-instructions-update limits docs evidence

# Only what running needs is installed for it; the targets below complete the environment.
demo: $(VENV)/.runs
	$(BIN)/python examples/demo.py

# Bytecode is kept, whatever the environment says: tests start many processes, and each would compile the package anew.
test: $(STAMP)
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest $(PYTEST_ARGS)

# The report in a real browser: Debian's Chromium, driven by Playwright.
test-browser: $(STAMP)
	command -v chromium > /dev/null || apt-get install -y --no-install-recommends chromium fonts-dejavu-core
	$(PIP_LOCKED) -r requirements/browser.lock
	PARSIFAL_BROWSER=$$(command -v chromium) $(BIN)/python -m pytest tests/reporting/test_browser.py

# The site in build/docs, its reference and gallery made anew; a warning or a link that leads nowhere is an error.
docs: $(STAMP) $(VENV)/.docs
	MPLBACKEND=Agg $(BIN)/python -m sphinx -b html -E -W --keep-going -q -d build/doctrees docs build/docs
	$(BIN)/python scripts/check_site.py build/docs

$(VENV)/.docs: $(VENV)/.locked requirements/docs.lock
	$(PIP_LOCKED) -r requirements/docs.lock
	touch $@

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run --Werror $(CXX_FILES)
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff

# The core by GCC and clang, without extensions of the language, and for aarch64: docs/releasing.md.
portable: $(STAMP)
	$(BIN)/python scripts/portable.py $(ONLY)

format: $(STAMP)
	-$(BIN)/ruff check --fix --quiet .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CXX_FILES)

bench: $(STAMP)
	$(BIN)/python -m benchmarks.run

bench-scale: $(STAMP)
	$(BIN)/python -m benchmarks.speed.scale

# Parsifal beside its peers, each in an environment of its own below .peers; a run that was stopped goes on.
peers: $(STAMP)
	$(BIN)/python -m benchmarks.peers.environments

test-peers: peers
	PARSIFAL_PEERS=1 $(BIN)/python -m pytest -q tests/tools/test_peers_installed.py

bench-quick: $(STAMP) peers
	$(BIN)/python -m benchmarks.peers --plan quick --fresh

bench-full: $(STAMP) peers
	$(BIN)/python -m benchmarks.peers --plan full

# Every figure of the documentation again: a night of an idle machine; goes on where it was stopped.
evidence: $(STAMP) peers
	$(BIN)/python -m benchmarks.evidence

# kill -9 and SIGTERM at 50 random moments of each command, then the same answer as without: about half an hour.
crash: $(STAMP)
	$(BIN)/python -m stress.crash

# Random problems through every method, see docs/testing.md: MINUTES=60, or PROBLEMS=20000; SEED=1 START=500 to go on.
MINUTES ?= 10
stress: $(STAMP)
	$(BIN)/python -m stress.asked --count $(or $(ASKED),2000)
	$(BIN)/python -m stress --minutes $(MINUTES) $(if $(PROBLEMS),--problems $(PROBLEMS)) $(if $(SEED),--seed $(SEED)) $(if $(START),--start $(START)) $(if $(JOBS),--jobs $(JOBS))

# Changed bytes through everything that reads bytes. atheris guides it by coverage; without it the bytes change blindly.
fuzz: $(STAMP)
	$(BIN)/python -c "import atheris" 2> /dev/null || $(BIN)/python -m pip install --quiet "atheris>=2.3" || true
	$(BIN)/python -m fuzz --minutes $(MINUTES)

# False certificates against the checker, and the same problems against the solver: MINUTES=60, SEED=1 START=500 to go on.
forge: $(STAMP)
	$(BIN)/python -m forge --minutes $(MINUTES) $(if $(PROBLEMS),--problems $(PROBLEMS)) $(if $(SEED),--seed $(SEED)) $(if $(START),--start $(START))

# Instructions of small solves under valgrind, beside benchmarks/guards/baselines/instructions.json.
bench-instructions: $(STAMP)
	$(BIN)/python -m benchmarks.guards.instructions

bench-instructions-update: $(STAMP)
	$(BIN)/python -m benchmarks.guards.instructions --update

# Whether time limits, Ctrl-C and memory limits hold; a quarter of an hour of an idle machine.
limits: $(STAMP)
	$(BIN)/python -m benchmarks.guards.limits

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

# Without byte code, which is more than half of pip's time: what is imported is compiled then, and the development
# environment completes it, on all cores.
$(VENV)/.running: $(VENV)/bin/python requirements/run.lock
	$(PIP_LOCKED) --no-compile -r requirements/run.lock
	touch $@

$(VENV)/.locked: $(VENV)/.running requirements/dev.lock requirements/data.lock
	$(PIP_LOCKED) -r requirements/dev.lock
	$(PIP_LOCKED) --no-deps -r requirements/data.lock
	$(BIN)/python -m compileall -qq -j 0 $(VENV)/lib || true
	touch $@

# Editable for the Python files, rebuilt when a C++ or build file changes; the build tools are in the venv, so a
# rebuild compiles only what changed.
$(VENV)/.runs: $(VENV)/.running $(SOURCES)
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	touch $@

$(STAMP): $(VENV)/.locked $(VENV)/.runs
	touch $@
