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

.PHONY: help setup test check format lint types layers coverage slow study browser bench coverage-table docs clean \
	package sdist-test lowest newer rows

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

# The tests of a row of versions: most of the package in about two minutes, without torch, databases' servers and long simulations.
ROW_TESTS = README.md tests/laws tests/quantifiers tests/cli tests/desk tests/tables tests/modelfile tests/intervals \
	tests/stream tests/features tests/test_public_face.py tests/test_interpreted.py
ROW_NEEDS = pytest pytest-xdist hypothesis duckdb python-calamine sqlglot openpyxl polars pyyaml xlsxwriter \
	dask distributed

# What numba has compiled is kept by each row for itself: another version of it would compile all anew.
lowest newer: export OMP_NUM_THREADS = 1
lowest:          ## test with the lowest versions that pyproject.toml admits, in .venv-lowest (long)
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet --constraint constraints-lowest.txt --editable . $(ROW_NEEDS)
	NUMBA_CACHE_DIR=$(CURDIR)/.venv-lowest/kernels .venv-lowest/bin/python -m $(PYTEST) $(ROW_TESTS)

newer:           ## test on Python 3.12 and 3.13, where they are found, with the newest versions (long)
	@for version in 3.12 3.13; do \
		python=$$(.ci/find_python $$version); \
		if [ -z "$$python" ]; then echo "SKIPPED: there is no Python $$version here, so nothing was tested on it" >&2; continue; fi; \
		echo "Python $$version: $$python"; \
		"$$python" -m venv .venv-$$version || exit 1; \
		.venv-$$version/bin/python -m pip install --quiet --upgrade --upgrade-strategy eager --editable . $(ROW_NEEDS) || exit 1; \
		NUMBA_CACHE_DIR=$(CURDIR)/.venv-$$version/kernels .venv-$$version/bin/python -m $(PYTEST) $(ROW_TESTS) || exit 1; \
	done

rows: $(VENV)/.run  ## run a few tests with the lowest versions, and on a newer Python with the newest ones
	PYTHON=$(PYTHON) PIP='$(BIN)/python -m pip' .ci/rows

dist: $(VENV)/.run  # a new one each time
	rm -rf dist
	$(BIN)/python -m pip install --quiet build
	$(BIN)/python -m build --outdir dist .
.PHONY: dist

package: dist    ## build sdist and wheel; in a bare environment, install the wheel and run README's first minute
	rm -rf .venv-bare
	$(PYTHON) -m venv .venv-bare
	.venv-bare/bin/python -m pip install --quiet dist/*.whl
	.venv-bare/bin/python .ci/first_minute.py README.md

sdist-test: dist $(VENV)/.dev  ## run the tests of the sdist in the folder that it unpacks to (long)
	rm -rf dist/unpacked && mkdir dist/unpacked && tar --extract --gzip --file dist/*.tar.gz --directory dist/unpacked --strip-components 1
	cd dist/unpacked && PYTHONPATH=$$PWD/src:$$PWD OMP_NUM_THREADS=1 $(abspath $(BIN))/python -m $(PYTEST)

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
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.field
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.ten_methods
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.intervals
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.svmperf
	$(BIN)/python -m benchmarks.neural
	$(BIN)/python -m benchmarks.stream
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.stream_designs
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.desk
	$(BIN)/python -m benchmarks.look

coverage-table: $(VENV)/.dev  ## simulate the coverage of the intervals (hours): docs/coverage.md, docs/coverage-methods.md
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.coverage --only '^(?!The whole field)' --cells coverage-cells.jsonl --out docs/coverage.md
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.coverage --only '^The whole field' --cells coverage-cells.jsonl --out docs/coverage-methods.md

docs: export NO_MKDOCS_2_WARNING = 1
docs: $(VENV)/.docs  ## build the documentation site with its pictures: site/index.html
	$(BIN)/mkdocs build --strict --quiet

clean:           ## remove the environment and all caches
	rm -rf site dist $(VENV) .venv-lowest .venv-bare .venv-3.* .rows .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage* .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
