# Each target sets up its own .venv on first use: with uv where it is installed, else with venv and pip.
# Another interpreter: make PYTHON=python3.12 test

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
UV := $(shell command -v uv 2>/dev/null)
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

MEASURED := tests/vault tests/inbox tests/librarian tests/notebook tests/durable tests/catalogue

.DEFAULT_GOAL := help
.PHONY: help demo test coverage fast check bench repro evaluate-accept chaos pins clean

help: ## what can be made
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 24

demo: $(INSTALLED) ## fold a demo inbox into a copy of the demo vault
	@$(BIN)/infold demo

test: $(INSTALLED) ## the whole test suite, and that unit tests still run what they should
	@$(BIN)/python -m pytest -n 2 --dist loadgroup --cov --cov-report=

coverage: $(INSTALLED) ## the lines of those packages that no unit test runs
	@$(BIN)/python -m pytest -n 2 -q --cov --cov-report=term-missing:skip-covered $(MEASURED)

fast: $(INSTALLED) ## the unit tests, in about a minute
	@$(BIN)/python -m pytest -n 2 -q -m "not slow and not prefect and not dvc and not browser and not chaos" tests/vault tests/inbox \
	  tests/librarian tests/notebook tests/test_text.py tests/test_repository.py

check: $(INSTALLED) ## style, types, import direction and the list of tools
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m scripts.mcp_tools --check

bench: $(INSTALLED) ## every benchmark, one table each
	@for script in $$(grep -l __main__ bench/*.py | grep -v chaos); do echo "== $$script"; $(BIN)/python $$script || exit 1; done

repro: $(INSTALLED) ## rebuild snapshot, tables and summaries of the demo vault with DVC
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/dvc repro

evaluate-accept: $(INSTALLED) ## metrics, plots and dvc.lock of the demo vault anew: what the tests hold it to
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/dvc repro --force

chaos: $(INSTALLED) ## the killed-at-random tests in full; `make test` runs a tenth
	@INFOLD_CHAOS_SHARE=1 $(BIN)/python -m pytest -m chaos --timeout 3600

pins: ## constraints.txt anew from pyproject.toml (needs uv)
	@{ sed -n '/^#/p' constraints.txt; \
	   $(UV) pip compile --quiet --universal --python-version 3.11 --extra all --extra dev --generate-hashes \
	     --no-emit-index-url --no-header --no-annotate --upgrade pyproject.toml; } > constraints.new
	@mv constraints.new constraints.txt

clean: ## remove .venv, caches and what runs in this folder left behind
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(INSTALLED): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || \
	  { echo 'infold needs Python 3.11, 3.12 or 3.13; name one: make PYTHON=python3.12 ...' >&2; exit 3; }
	@echo 'Setting up $(VENV) (once) ...' >&2
ifdef UV
	@[ -x $(BIN)/python ] || $(UV) venv --quiet --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" $(VENV)
	@$(UV) pip install --quiet --python $(BIN)/python --require-hashes -r constraints.txt
	@$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
else
	@[ -x $(BIN)/python ] || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip
	@sed -n '/^pip==/,/[^\\]$$/p' constraints.txt > $(VENV)/pip.txt
	@$(PIP_INSTALL) --require-hashes -r $(VENV)/pip.txt
	@$(PIP_INSTALL) --require-hashes -r constraints.txt
	@$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
endif
	@touch $@
