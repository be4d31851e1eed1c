# Everything a contributor runs. Needs Python 3.11 or newer with `venv`, and make; nothing else.
#   make demo      see it work, on a made-up conversation, in a throw-away place
#   make check     what the CI checks

PYTHON ?= python3
VENV ?= .venv
PYTEST_ARGS ?= -n auto

BIN := $(VENV)/bin
BENCH := $(VENV)/bench
RUN := $(VENV)/.run.stamp
DEV := $(VENV)/.dev.stamp

.PHONY: help demo test quick lint types check dev bench bench-peers clean

help:
	@echo "make demo    run conversation-esaa on a made-up conversation, in a throw-away place"
	@echo "make test    all tests"
	@echo "make quick   all tests but the slow ones"
	@echo "make lint    ruff: rules and format"
	@echo "make types   mypy, strict"
	@echo "make check   lint, types and test"
	@echo "make bench   every budget of docs/performance.md, measured (BENCH_ARGS=--full for the real sizes)"
	@echo "make bench-peers   other tools on the same logs; installs them from PyPI"
	@echo "make clean   remove $(VENV) and caches"
	@echo "PYTHON=python3.12 make test  chooses the interpreter for a new $(VENV)"

demo: $(RUN)
	@$(BIN)/conversation-esaa demo

test: $(DEV)
	@$(BIN)/python -m pytest $(PYTEST_ARGS)

quick: $(DEV)
	@$(BIN)/python -m pytest $(PYTEST_ARGS) -m "not slow"

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(DEV)
	$(BIN)/mypy

check: lint types test

dev: $(DEV)

bench: $(BENCH)/.stamp
	@$(BENCH)/bin/python benchmarks/run.py $(BENCH_ARGS)

bench-peers: $(BENCH)/.stamp
	@$(BENCH)/bin/python benchmarks/peers.py --cache $(BENCH)/peers $(BENCH_ARGS)

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "conversation-esaa needs Python 3.11 or newer; choose one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { echo "python venv is missing; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }

$(RUN): pyproject.toml | $(BIN)/python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(DEV): pyproject.toml | $(BIN)/python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(RUN)

# Nothing but what users have: some packages of developers slow the start of those that find them.
$(BENCH)/.stamp: pyproject.toml | $(BIN)/python
	@$(BIN)/python -m venv $(BENCH)
	@$(BENCH)/bin/python -m pip install --quiet --disable-pip-version-check .
	@touch $@
