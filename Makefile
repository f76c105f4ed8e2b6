# The commands of a checkout. Each makes what it needs in .venv: Python 3.11 or newer and make are
# all that has to be there; uv is used where it is installed.

PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11; do \
	command -v $$name >/dev/null && $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	&& echo $$name && break; done)
BIN := .venv/bin
READY := .venv/.ready
UNCOVERED := --skip-covered --show-missing

.DEFAULT_GOAL := help
.PHONY: help demo test soak lint bench bench-page clean

help:
	@echo 'make demo    a real checkpoint, restarts and reboots: file and database side by side'
	@echo 'make test    all tests, then the branch coverage of core and engine'
	@echo 'make soak    the long random tests'
	@echo 'make lint    format, lint, types, import contracts'
	@echo 'make bench   the benchmark figures beside their bars'
	@echo 'make bench-page  its last table put into BENCHMARKS.md and README.md'
	@echo 'make clean   remove everything that these commands made'

demo: $(READY)
	@sh scenarios/demo/demo.sh $(BIN)/rebind

# Coverage slows down what it watches, so only the tests that are needed for it run under it.
COVERED := tests/core tests/engine tests/golden tests/migration tests/properties tests/scenarios \
	tests/cli/test_checkpoint.py tests/cli/test_doctor.py tests/cli/test_import_export.py \
	tests/cli/test_migrate.py tests/recovery/test_every_cut.py tests/test_scenarios.py \
	tests/test_scenarios_in_the_api.py tests/test_witnesses.py
TESTED := HYPOTHESIS_PROFILE=ci $(BIN)/python -m pytest -q --maxprocesses=8
# The others wait for processes and sockets more than they compute.
WORKERS = $(shell $(BIN)/python -c 'import os; print(len(os.sched_getaffinity(0)) * 3 // 2 or 2)')

test: $(READY)
	@$(TESTED) -n auto --cov=simulator.core --cov=simulator.engine --cov-report= $(COVERED)
	@$(BIN)/coverage report --include='simulator/core/*' --fail-under=100 $(UNCOVERED)
	@$(BIN)/coverage report --include='simulator/engine/*' --fail-under=95 $(UNCOVERED)
	@$(TESTED) -n $(WORKERS) $(COVERED:%=--ignore=%) tests

soak: $(READY)
	@HYPOTHESIS_PROFILE=soak $(BIN)/python -m pytest -q -n auto --maxprocesses=8 -m soak tests

lint: $(READY)
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

bench: $(READY)
	@$(BIN)/python -m pytest -q --benchmark-quiet --table=out/bench.md benchmarks

bench-page:
	@PYTHONPATH=. $(PYTHON) -m benchmarks.figure_page

clean:
	@rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .benchmarks \
		.coverage .coverage.* htmlcov dist build out *.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Made anew whenever the dependencies change; the mark is set last, so a broken attempt is repeated.
$(READY): pyproject.toml
	@[ -n "$(PYTHON)" ] || { echo 'Python 3.11 or newer is needed; set PYTHON=/path/to/python3'; exit 3; }
	@echo 'Setting up .venv (once)'
	@rm -rf .venv
	@if command -v uv >/dev/null \
		&& uv venv --quiet --python "$(PYTHON)" .venv \
		&& uv pip install --quiet --python $(BIN)/python --editable '.[api,postgres,reflection,report]' --group dev; then :; else \
		$(PYTHON) -m venv --clear .venv \
			|| { echo "$(PYTHON) cannot make environments; on Debian: apt-get install python3-venv"; exit 3; }; \
		$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1' \
			&& $(BIN)/python -m pip install --quiet --editable '.[api,postgres,reflection,report]' --group dev; \
	fi
	@touch $(READY)
