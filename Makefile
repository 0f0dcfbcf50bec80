# All checks, measurements and builds. Needs Python 3.11 or newer and make; everything else is installed into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Test processes, one per core, at most four: each takes up to 1 GB. The tests of a file stay in one process, in order, so that its
# fixtures are made once. What has been compiled is shared through numba's cache on disk.
PYTEST := pytest -q --numprocesses auto --maxprocesses 4 --dist loadfile
# The tests of kernels, in the files that have some: collecting all others would take longer than to run these.
KERNELS = -m 'kernels and not slow' $$(grep -rl --include='*.py' 'mark[.]kernels' tests)
# Commands in processes of their own, and the second run of the tests, would translate all modules again.
unexport PYTHONDONTWRITEBYTECODE

NOTE_ON_BROWSER = command -v chromium >/dev/null && command -v chromedriver >/dev/null || \
	echo 'NOTE: without chromium and chromedriver the tests of the page in a browser are skipped: make browser'

.PHONY: help setup test check format lint types layers coverage slow study browser bench coverage-table docs clean

help:            ## print this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

setup: $(VENV)/.dev  ## create the environment .venv with everything that the tests need

$(VENV)/.run: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("headcount needs Python 3.11 or newer; set PYTHON=... to one") if sys.version_info < (3, 11) else 0'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[neural]'
	@touch $@

$(VENV)/.dev: $(VENV)/.run
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@

$(VENV)/.bench: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[bench]'
	@touch $@

$(VENV)/.docs: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[docs]'
	@touch $@

# The test processes use all cores already.
test coverage: export OMP_NUM_THREADS = 1
test: $(VENV)/.dev  ## run all tests and doctests, those of the kernels also without compiling
	@$(NOTE_ON_BROWSER)
	$(BIN)/python -m $(PYTEST)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m $(PYTEST) $(KERNELS)

check: format lint layers  ## run everything that must pass before a change is merged
	$(MAKE) --no-print-directory --jobs 2 types coverage  # mypy uses one core

format: $(VENV)/.dev
	$(BIN)/ruff format --check .

lint: $(VENV)/.dev
	$(BIN)/ruff check .

types: $(VENV)/.dev
	$(BIN)/mypy

layers: $(VENV)/.dev
	$(BIN)/lint-imports

coverage: $(VENV)/.dev  ## run the same tests with branch coverage
	@$(NOTE_ON_BROWSER)
	$(BIN)/coverage erase
	$(BIN)/coverage run -m $(PYTEST)
	NUMBA_DISABLE_JIT=1 $(BIN)/coverage run -m $(PYTEST) $(KERNELS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

slow: $(VENV)/.dev  ## run the long simulations, one after another: one of them measures memory
	$(BIN)/python -m pytest -q -m slow tests

study: $(VENV)/.run  ## run (or continue) the study on synthetic stand-ins; print table 6 and the claims; write the page
	@status=0; $(BIN)/headcount study run stand-ins --store study-store || status=$$?; \
	for show in 'tables --number 6' claims report; do \
		echo; set -- $$show; name=$$1; shift; $(BIN)/headcount study $$name stand-ins --store study-store "$$@" || status=$$?; \
	done; exit $$status

browser:         ## install Debian's chromium and its driver, for the tests of the page in a browser
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null || apt-get install --yes chromium chromium-driver

bench: export OMP_NUM_THREADS = 2
bench: $(VENV)/.bench  ## measure speed against other libraries: docs/performance.md
	$(BIN)/python -m benchmarks.aggregation
	$(BIN)/python -m benchmarks.selection
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.intervals
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.svmperf
	$(BIN)/python -m benchmarks.neural
	$(BIN)/python -m benchmarks.stream
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.desk
	$(BIN)/python -m benchmarks.look

coverage-table: $(VENV)/.dev  ## simulate the coverage of the intervals (about two hours on two cores): docs/coverage.md
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.coverage --cells coverage-cells.jsonl --out docs/coverage.md

docs: export NO_MKDOCS_2_WARNING = 1
docs: $(VENV)/.docs  ## build the documentation site with its pictures: site/index.html
	$(BIN)/mkdocs build --strict --quiet

clean:           ## remove the environment and all caches
	rm -rf site $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage* .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
