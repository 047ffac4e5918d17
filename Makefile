# Everything is set up inside this checkout (.venv), from the hash-locked files in
# requirements/. Needs make, a POSIX shell and Python 3.11 or newer; no root, no Docker.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
UV := $(BIN)/uv
STAMP := $(VENV)/.set-up
# The number of test processes; most tests wait for servers, so three serve two cores best.
JOBS ?= 3
PYTEST_ARGS ?=
# A run starts hundreds of processes: each would compile the application again where this is set.
unexport PYTHONDONTWRITEBYTECODE
CODE := src tests $(wildcard bench) $(wildcard examples)

.PHONY: help setup up hello web test check format lint types imports rules fix bench lock audit sbom clean sim crash proof

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / {printf "  make %-8s %s\n", $$1, $$2}' Makefile

setup: $(STAMP) ## Set up .venv from the locks (the other targets do it themselves)

$(PY):
	@set -e; found=; \
	for python in $$PYTHON python3 python3.13 python3.12 python3.11 python3.14 python; do \
	  if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    found=$$python; break; \
	  fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo "Cadenza needs Python 3.11 or newer, and found none on PATH." >&2; \
	  echo "Install one (Debian 12 or Ubuntu 24.04: apt install python3 python3-venv; macOS: brew install python)," >&2; \
	  echo "or name it: make PYTHON=/path/to/python3.12 setup" >&2; exit 1; \
	fi; \
	echo "Setting up $(VENV) with $$($$found --version)"; \
	rm -rf $(VENV); \
	"$$found" -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "Python's venv module is not whole. Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }

$(UV): | $(PY)
	@$(PY) -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/install.txt

$(STAMP): requirements/dev.txt requirements/install.txt pyproject.toml | $(UV)
	@$(UV) pip install --quiet --python $(PY) --require-hashes -r requirements/dev.txt
	@$(UV) pip install --quiet --python $(PY) --no-deps --no-build-isolation --editable .
	@touch $@

up: $(STAMP) ## Set up, then run Cadenza with a demo in it (PORT=8400, RESET=1: start over)
	@if [ ! -f src/cadenza/_ui/index.html ]; then $(MAKE) --no-print-directory web || \
	  echo "The web app could not be built; the API and the command line work without it." >&2; fi
	@exec $(BIN)/cadenza demo --data .cache/up --port $(or $(PORT),8400) $(if $(RESET),--reset) \
	  --networks-port $(or $(NETWORKS_PORT),8500)

hello: $(STAMP) ## Run the engine's first example
	@exec $(PY) examples/hello.py

web: $(STAMP) ## Build the web app into the package, if it changed, write the clients and docs/reference
	@$(PY) -m cadenza.api.document > web/openapi.json
	@$(PY) -m cadenza.api.write_client
	@$(PY) -m cadenza.cli.reference
	@if $(PY) hatch_build.py --lacks-node; then \
	  $(UV) pip install --quiet --python $(PY) --require-hashes -r requirements/web.txt; fi
	@$(PY) hatch_build.py

test: $(STAMP) web ## Run all tests; names what had to be skipped
	@$(PY) -m tests.retry_failed -q -rs -n $(JOBS) --dist worksteal $(PYTEST_ARGS)

check: format lint types imports rules ## Format, lint, types, import contracts, repository rules

format: $(STAMP) ## Check the formatting (fix: make fix)
	@$(BIN)/ruff format --check $(CODE)

lint: $(STAMP) ## Run ruff
	@$(BIN)/ruff check $(CODE)

types: $(STAMP) ## Run basedpyright
	@$(BIN)/basedpyright --level error

imports: $(STAMP) ## Check that imports between packages point down
	@$(BIN)/lint-imports --cache-dir .cache/import-linter

rules: $(STAMP) ## Check the repository rules (tests/repository)
	@$(PY) -m pytest -q tests/repository

fix: $(STAMP) ## Format and apply ruff's safe fixes
	@$(BIN)/ruff check --fix-only $(CODE)
	@$(BIN)/ruff format $(CODE)

sim: $(STAMP) ## Simulate fresh worlds for MINUTES (1): crashes, freezes, lost answers
	@$(PY) -m tests.simulation --minutes $(or $(MINUTES),1)

crash: $(STAMP) ## Kill product workers with -9, ROUNDS (200) times, over all networks
	@CADENZA_TEST_CRASH_ROUNDS=$(or $(ROUNDS),200) $(PY) -m pytest -q -s -o faulthandler_timeout=0 \
	  tests/crash/test_kill_worker.py

proof: $(STAMP) ## Send a campaign to SIZE (100000) chats of a simulated Telegram while its workers are killed
	@CADENZA_TEST_CAMPAIGN=$(or $(SIZE),100000) $(PY) -m pytest -q -s -n 0 -o faulthandler_timeout=0 \
	  tests/crash/test_campaign.py

bench: $(STAMP) ## Measure, with peers beside us
	@$(PY) -m bench $(BENCH_ARGS)

COMPILE = $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--custom-compile-command "make lock" pyproject.toml

lock: | $(UV) ## Write requirements/*.txt again from pyproject.toml (UPGRADE=1: newest versions)
	@mkdir -p requirements
	@$(COMPILE) $(if $(UPGRADE),--upgrade) --all-extras -o requirements/runtime.txt
	@$(COMPILE) $(if $(UPGRADE),--upgrade) --all-extras --group dev -c requirements/runtime.txt -o requirements/dev.txt
	@if [ -f requirements/bench.in ]; then $(UV) pip compile --quiet $(if $(UPGRADE),--upgrade) --universal \
	  --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  requirements/bench.in -o requirements/bench.txt; fi
	@$(UV) pip compile --quiet $(if $(UPGRADE),--upgrade) --no-deps --universal --python-version 3.11 \
	  --generate-hashes --no-header --no-annotate requirements/bench-apart.in -o requirements/bench-apart.txt
	@$(UV) pip compile --quiet $(if $(UPGRADE),--upgrade) --universal --python-version 3.11 --generate-hashes \
	  --custom-compile-command "make lock" --group install -o requirements/install.txt
	@$(UV) pip compile --quiet $(if $(UPGRADE),--upgrade) --universal --python-version 3.11 --generate-hashes \
	  --custom-compile-command "make lock" --group build -c requirements/dev.txt -o requirements/build.txt
	@$(UV) pip compile --quiet $(if $(UPGRADE),--upgrade) --universal --python-version 3.11 --generate-hashes \
	  --custom-compile-command "make lock" --group web -o requirements/web.txt
	@$(UV) pip compile --quiet $(if $(UPGRADE),--upgrade) --universal --python-version 3.11 --generate-hashes \
	  --custom-compile-command "make lock" --group audit -o requirements/audit.txt
	@! grep -nE 'https?://' requirements/*.txt

AUDIT := .venv-audit/bin
$(AUDIT)/pip-audit: requirements/audit.txt | $(UV)
	@$(UV) venv --quiet --clear --python $(PY) .venv-audit
	@$(UV) pip install --quiet --python $(AUDIT)/python --require-hashes -r requirements/audit.txt

# A finding fails. Advisories that cannot be reached do not: that is said, and is no finding (STRICT=1: it fails).
audit: $(AUDIT)/pip-audit ## Look our locked dependencies up in the public advisories
	@$(PY) -m tests.repository.audit $(if $(STRICT),--strict) requirements/runtime.txt

sbom: $(AUDIT)/pip-audit ## Write the bill of materials of a release: build/sbom.json (CycloneDX)
	@mkdir -p build
	@$(AUDIT)/cyclonedx-py requirements --output-reproducible --of JSON -o build/sbom.json requirements/runtime.txt
	@echo build/sbom.json

clean: ## Remove .venv and everything that tools left behind
	rm -rf $(VENV) .venv-audit .venv-bench .cache .pytest_cache .ruff_cache .hypothesis .coverage build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
