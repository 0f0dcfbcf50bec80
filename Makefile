# The one list of what is checked, measured and built. Needs Python 3.11 or newer and make; sets up the rest by itself.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help setup test check format lint types layers coverage slow study browser bench coverage-table docs clean

help:            ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

setup: $(VENV)/.dev  ## an environment of its own in .venv, with all that the tests need

$(VENV)/.dev: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("headcount needs Python 3.11 or newer; set PYTHON=... to one") if sys.version_info < (3, 11) else 0'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev,neural]'
	@touch $@

$(VENV)/.bench: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[bench]'
	@touch $@

$(VENV)/.docs: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[docs]'
	@touch $@

test: $(VENV)/.dev  ## all tests and doctests, the kernels also as plain Python
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null || echo 'NOTE: without chromium and chromedriver the tests of the page in a browser are skipped: make browser'
	$(BIN)/python -m pytest -q
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q -m kernels tests

check: format lint types layers coverage  ## everything that must hold before a change lands

format: $(VENV)/.dev
	$(BIN)/ruff format --check .

lint: $(VENV)/.dev
	$(BIN)/ruff check .

types: $(VENV)/.dev
	$(BIN)/mypy

layers: $(VENV)/.dev
	$(BIN)/lint-imports

coverage: $(VENV)/.dev  ## what `make test` runs, with branch coverage
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null || echo 'NOTE: without chromium and chromedriver the tests of the page in a browser are skipped: make browser'
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -q
	NUMBA_DISABLE_JIT=1 $(BIN)/coverage run -m pytest -q -m kernels tests
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

slow: $(VENV)/.dev  ## the long simulations
	$(BIN)/python -m pytest -q -m slow tests

study: $(VENV)/.dev  ## the whole study on synthetic stand-ins: run it (or go on with it); table 6, the claims, the page
	@status=0; $(BIN)/headcount study run stand-ins --store study-store || status=$$?; \
	for show in 'tables --number 6' claims report; do \
		echo; set -- $$show; name=$$1; shift; $(BIN)/headcount study $$name stand-ins --store study-store "$$@" || status=$$?; \
	done; exit $$status

browser:         ## what the page's tests need: Debian's chromium and its driver
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null || apt-get install --yes chromium chromium-driver

bench: export OMP_NUM_THREADS = 2
bench: $(VENV)/.bench  ## speed against the peers, both sides in one run
	$(BIN)/python -m benchmarks.aggregation
	$(BIN)/python -m benchmarks.selection
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.intervals
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.svmperf
	$(BIN)/python -m benchmarks.neural
	$(BIN)/python -m benchmarks.stream

coverage-table: $(VENV)/.dev  ## how often the intervals hold the truth, by simulation (about 25 minutes): docs/coverage.md
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.coverage_table

docs: export NO_MKDOCS_2_WARNING = 1
docs: $(VENV)/.docs  ## the documentation site, pictures included: site/index.html
	$(BIN)/mkdocs build --strict --quiet

clean:           ## remove the environment and all caches
	rm -rf site $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage* .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
