PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PACKAGES := -e . -e ./backends/cpu -e ./backends/gpu -e ./backends/template -e ./conformance
PROJECTS := pyproject.toml $(wildcard backends/*/pyproject.toml conformance/pyproject.toml)

.DEFAULT_GOAL := help

.PHONY: help
help:  ## Show what there is to make
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | awk -F'\t' '{printf "  make %-12s %s\n", $$1, $$2}'

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.installed: $(BIN)/python $(PROJECTS)
	$(BIN)/python -m pip install --quiet $(PACKAGES) "matplotlib>=3.8"
	@touch $@

$(VENV)/.dev: $(BIN)/python $(PROJECTS)
	$(BIN)/python -m pip install --quiet $(PACKAGES) -e ".[dev,docs,jax,pictures,test]"
	@touch $@ $(VENV)/.installed

.PHONY: install
install: $(VENV)/.installed  ## Install the five distributions into .venv

.PHONY: dev
dev: $(VENV)/.dev  ## Install everything that development needs into .venv

.PHONY: demo
demo: $(VENV)/.installed  ## Train the digits network on the CPU backend: the main job
	$(BIN)/python examples/digits/run.py

.PHONY: lint
lint: $(VENV)/.dev  ## Check style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The tests start hundreds of processes, which share compiled modules, also where the environment says to write none.
# What fails on a busy machine runs once more alone: a test that passes then is unsteady, and pytest's first summary names
# it; one that fails again fails the target.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -q
AGAIN := --last-failed --last-failed-no-failures none

.PHONY: test
test: lint  ## Check everything: style, types, layers, tests
	$(PYTEST) -n 2 --dist worksteal || { echo "The tests that failed run again, alone:"; $(PYTEST) $(AGAIN); }

.PHONY: test-all
test-all: $(VENV)/.dev  ## The long tests too
	$(BIN)/python -m pytest -n 2 -q -m "slow or not slow"

.PHONY: test-gpu
test-gpu: $(VENV)/.dev  ## The GPU backend's tests and the conformance suite, on a GPU where there is one
	$(BIN)/python -m pytest -n 2 -q tests/backends/gpu
	$(BIN)/xla conform --backend gpu -n 2

.PHONY: bench
bench: $(VENV)/.dev  ## Time our programs against JAX's own compiler
	$(BIN)/xla bench

.PHONY: gpu-bundle
gpu-bundle: $(VENV)/.dev  ## Collect the wheels that the report of a GPU needs on a machine without network
	$(BIN)/python -m benchmarks.gpu_bundle

.PHONY: docs
docs: $(VENV)/.dev  ## Build the documentation into site/
	$(BIN)/mkdocs build --strict

.PHONY: format
format: $(VENV)/.dev  ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: clean
clean:  ## Remove what was built
	rm -rf .venv site out build dist
