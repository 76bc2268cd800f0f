# A fresh machine needs make and Python 3.11 or newer; everything else goes into .venv.
# Try: make fly

PYTHON ?=
SCENARIO ?=
TORCH ?= torch==2.13.0

VENV := .venv
BIN := $(VENV)/bin
PEERS := .venv-peers
PIP_INSTALL := -m pip install -qq --disable-pip-version-check --no-input --progress-bar off
PIP := $(BIN)/python $(PIP_INSTALL)
PYTHONS := $(PYTHON) python3.13 python3.12 python3.11 python3 python
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header
COMPILE := $(LOCK) pyproject.toml requirements/build.in

.DEFAULT_GOAL := help
.PHONY: help setup fly studio test browser lint format bench bench-peers learn reproduce docs lock clean
.DELETE_ON_ERROR:

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' Makefile

setup: $(VENV)/.base ## install skyrig into .venv

fly: $(VENV)/.base ## fly a scenario: make fly SCENARIO=name-or-file (the default one if left out)
	@$(BIN)/skyrig fly $(SCENARIO)

studio: $(VENV)/.base ## see and steer a rig in a browser: make studio SCENARIO=name-or-file
	@$(BIN)/skyrig studio $(SCENARIO)

test: $(VENV)/.dev browser ## run the tests: make test ARGS="-m 'not slow'" leaves out the longest
	@$(BIN)/python -m pytest $(ARGS)

# Tests of the studio need a browser. It is installed where that needs no question, else those tests are skipped.
browser:
	@found() { command -v chromium || command -v chromium-browser || command -v google-chrome; }; \
	if ! found >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "Installing Chromium for the tests of the studio"; \
	    { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; } >/dev/null 2>&1 || true; \
	fi; \
	found >/dev/null || echo "Tests in a browser are skipped: install the package chromium for them."

lint: $(VENV)/.dev ## check style and types
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright --pythonpath $(BIN)/python

format: $(VENV)/.dev ## put the code in style
	@$(BIN)/ruff check --fix --show-fixes
	@$(BIN)/ruff format

bench: $(VENV)/.dev ## measure how fast it flies
	@$(BIN)/python benchmarks/run.py $(ARGS)

bench-peers: $(VENV)/.dev $(PEERS)/.peers ## measure it next to other simulators and write docs/benchmarks.md
	@$(BIN)/python benchmarks/peers.py --peers $(PEERS)/bin/python $(ARGS)

learn: $(VENV)/.rl ## learn to hover with a slung load and keep the policy in learned/
	@$(BIN)/python examples/learn_hover.py $(ARGS)

reproduce: $(VENV)/.base ## run RotorTM's results again and write their page into docs/
	@$(BIN)/skyrig reproduce rotortm --out reproduced
	@mkdir -p docs/rotortm
	@cp reproduced/rotortm.md docs/rotortm.md
	@cp reproduced/rotortm/figure-*.png docs/rotortm/

docs: $(VENV)/.dev ## build the documentation into site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

lock: $(VENV)/.dev ## choose versions anew and write requirements/*.lock
	@$(COMPILE) --upgrade --output-file requirements/base.lock
	@$(COMPILE) --upgrade --extra dev --constraint requirements/base.lock --output-file requirements/dev.lock
	@$(COMPILE) --upgrade --extra rl --constraint requirements/base.lock --constraint requirements/dev.lock \
	    --excludes requirements/rl-unlocked.txt --output-file requirements/rl.lock
	@$(LOCK) --upgrade requirements/peers.in --output-file requirements/peers.lock

clean: ## remove environments, caches and what building left behind
	@rm -rf $(VENV) $(PEERS) build dist site .pytest_cache .ruff_cache .hypothesis
	@find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps below say what .venv holds, so set-up runs only when a lock or pyproject.toml changes.

$(VENV)/.made:
	@for candidate in $(PYTHONS); do \
	    "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	    version=$$("$$candidate" -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
	    if ! "$$candidate" -c 'import ensurepip, venv' 2>/dev/null; then \
	        echo "Python $$version has no venv module here: install the package python$$version-venv, then try again." >&2; exit 1; \
	    fi; \
	    echo "Creating $(VENV) with Python $$version"; \
	    "$$candidate" -m venv --clear $(VENV) && touch $@; exit; \
	done; \
	echo "skyrig needs Python 3.11 or newer: install it, or name one with make PYTHON=/path/to/python3." >&2; exit 1

$(VENV)/.base: $(VENV)/.made requirements/base.lock pyproject.toml
	@echo "Installing skyrig and what it needs into $(VENV)"
	@$(PIP) --require-hashes -r requirements/base.lock
	@$(PIP) --no-build-isolation --no-deps --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.base requirements/dev.lock
	@echo "Installing what tests, checks and documentation need into $(VENV)"
	@$(PIP) --require-hashes -r requirements/dev.lock
	@touch $@

$(VENV)/.rl: $(VENV)/.dev requirements/rl.lock
	@echo "Installing what learning needs into $(VENV): $(TORCH) is large (TORCH= takes another build)"
	@$(PIP) "$(TORCH)"
	@$(PIP) --require-hashes --no-deps -r requirements/rl.lock
	@touch $@

# Other simulators, in an environment of their own: they need other versions of what skyrig needs.
$(PEERS)/.peers: $(VENV)/.made requirements/peers.lock
	@echo "Installing the simulators that skyrig is measured against into $(PEERS)"
	@$(BIN)/python -m venv --clear $(PEERS)
	@$(PEERS)/bin/python $(PIP_INSTALL) --require-hashes -r requirements/peers.lock
	@touch $@
