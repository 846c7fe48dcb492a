# Everything needs only Python 3.10 or newer, Rust and make: the first target that wants Python packages makes
# .venv and installs them there. `make help` lists the targets.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := target/demo

# What the built module depends on; a target that needs it rebuilds only after one of these changed.
RUST_FILES := $(shell find rust/core/src rust/python/src -name '*.rs') $(wildcard rust/*/Cargo.toml Cargo.*)

define FIRST_EVENTS
import json, pathlib, sys
for event in json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))[:10]:
    said = " ".join(event["says"].split())[:60] or ("(thinks)" if "thinks" in event else "")
    print(f"{event['index']:>4} {event['role']:<9} {said}", *(f"[{tool}]" for tool in event.get("tools", [])))
endef
export FIRST_EVENTS

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

.PHONY: help demo test test-rust test-python build lint format typecheck workflows bench bench-quick dashboard fuzz clean

help: ## list the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/\1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "  make %-12s %s\n", $$1, $$2}'

$(VENV)/.dev: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "error: Python 3.10 or newer is needed; say make PYTHON=python3.12")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev
	touch $@

$(VENV)/.workflows: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group workflows
	touch $@

# VIRTUAL_ENV tells maturin which environment to install into; the module is built as users get it: optimised.
$(VENV)/.built: $(VENV)/.dev $(RUST_FILES)
	PIP_QUIET=1 VIRTUAL_ENV="$(CURDIR)/$(VENV)" $(BIN)/maturin develop --release --quiet
	touch $@

# Compiled ahead, as pip does it: where PYTHONDONTWRITEBYTECODE is set, every start would compile it again.
build: $(VENV)/.built ## build the optimised module into .venv
	@$(BIN)/python -m compileall -q python/retell_fast

demo: build ## parse the bundled session and show what comes out
	@rm -rf $(DEMO) && mkdir -p $(DEMO)/home/projects && cp -R tests/data/claude-code $(DEMO)/home/projects/-home-you-demo
	@echo '$$ retell-fast parse tests/data/claude-code/demo.jsonl --include-subagents --output-dir $(DEMO)/out'
	@$(BIN)/retell-fast parse tests/data/claude-code/demo.jsonl --include-subagents --output-dir $(DEMO)/out || test $$? -eq 3
	@echo && echo 'the first events of $(DEMO)/out/events.json:'
	@$(BIN)/python -c "$$FIRST_EVENTS" $(DEMO)/out/events.json
	@echo && echo '$$ retell-fast preview 3 --sort score'
	@CLAUDE_CONFIG_DIR=$(DEMO)/home $(BIN)/retell-fast preview 3 --sort score

test: test-rust test-python ## run all tests

test-rust: ## run the Rust tests
	cargo test --workspace

test-python: build ## run the Python tests
	$(BIN)/python -m pytest

lint: $(VENV)/.dev ## check style and look for mistakes, in both languages
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings

format: $(VENV)/.dev ## lay out the code, in both languages
	$(BIN)/ruff check --fix --exit-zero .
	$(BIN)/ruff format .
	cargo fmt --all

typecheck: build ## check the types, and the stub against the built module
	$(BIN)/mypy
	MYPYPATH=python $(BIN)/python -m mypy.stubtest retell_fast --concise

workflows: $(VENV)/.workflows ## check the CI workflow files
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/actionlint -color .github/workflows/*.yml

# Only ratios within one run mean something; whole tools are timed after `pip install --group bench-tools`.
bench: build ## measure everything, in about a quarter of an hour
	@mkdir -p benches/out
	$(BIN)/python -m pytest benches --benchmark-only --benchmark-max-time=0.5 --benchmark-columns=min,median,max,rounds --benchmark-json=benches/out/pytest-benchmark.json
	$(BIN)/python -m benches.goals
	$(BIN)/python -m benches.goals.growth
	$(BIN)/python -m benches.report.publish

bench-quick: build ## measure for two minutes, to see whether something got slower
	$(BIN)/python -m benches.goals --quick

dashboard: $(VENV)/.dev ## draw the history of the recorded benchmarks into target/dashboard
	$(BIN)/python -m benches.report.dashboard target/dashboard

fuzz: build ## run the property tests for long
	RETELL_HYPOTHESIS=long $(BIN)/python -m pytest -m hypothesis
	PROPTEST_CASES=20000 cargo test --workspace --release

clean: ## remove everything that was built
	rm -rf $(VENV) target dist .hypothesis .mypy_cache .pytest_cache .ruff_cache .benchmarks
	rm -f python/retell_fast/_native*.so
	find python tests benches -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
