# Every target sets up its own virtual environment in .venv; nothing else is needed but Python >= 3.11 and make.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready-dev
# the demo needs half of what the tests need; where their packages are, it needs nothing more
DEMO   := $(if $(wildcard $(READY)),$(READY),$(VENV)/.ready-demo)

.PHONY: demo test docs lint bench slow bits versions wheel simulators clean help

help:
	@echo "make demo   a synthetic patient: from noisy pressure and flow to stiffness and rarefaction, with a report (1 to 2 min)"
	@echo "make test   lint, types, layers and all tests but the slow and the thorough ones"
	@echo "make docs   the documentation site, in build/site"
	@echo "make slow   the tests that take minutes, and further cases of the others"
	@echo "make bits   what is promised bit by bit, with the arithmetic of other processors too"
	@echo "make versions  tests with the oldest and the newest packages and Python"
	@echo "make wheel  wheel and sdist built into dist/, and each tried in a clean environment"
	@echo "make simulators  tests of the real simulators of examples/, in an environment of their own (1 GB; needs ngspice)"
	@echo "make lint   ruff, mypy and import-linter alone"
	@echo "make bench  one suggestion timed against the peers that are installed"

$(VENV)/.ready-%: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "surefoot needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@test -x $(BIN)/python || { echo "making $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@echo "installing what '$*' needs ($(SIZE_$*)) into $(VENV)"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'pip>=25.1'  # which knows dependency groups
	$(BIN)/python -m pip install --quiet -e $(NEEDS_$*)
	@touch $@

NEEDS_demo := '.[pulmonary,plots]'
NEEDS_docs := '.[run,calibration,plots]' --group docs
NEEDS_dev  := '.[all]' --group dev
SIZE_demo := 30 packages, 0.6 GB; a minute or two
SIZE_docs := 60 packages, 0.6 GB; a minute or two
SIZE_dev  := 100 packages, 1.2 GB; some minutes

demo: $(DEMO)
	$(BIN)/python examples/patient.py

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal

test: lint
	$(PYTEST)
	@echo "surefoot is fine here: format, types, layers and all tests but the slow and the thorough ones"

# -W: a warning is an error, a link that leads nowhere among them
docs: $(VENV)/.ready-docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/site
	@echo "the site is in build/site: open build/site/index.html"

slow: $(READY)
	$(PYTEST) -m '(slow or thorough) and not torch and not peers and not simulators and not docs'

bits: $(READY)
	$(BIN)/python tools/arithmetics.py -n auto

versions: $(READY)
	$(BIN)/python tools/versions.py oldest -n auto --dist worksteal $(OLD_AND_NEW)
	$(BIN)/python tools/versions.py newest -n auto --dist worksteal $(OLD_AND_NEW)

# what depends on NumPy, SciPy, Optuna and Python; the rest needs packages that are not part of surefoot
OLD_AND_NEW := tests/parity tests/engine tests/numerics tests/gp tests/acquisition tests/failures tests/optimize tests/integrations tests/execute tests/runs

wheel: $(READY)
	$(BIN)/python tools/wheel.py

# what they need may hold NumPy back: not in $(VENV)
simulators:
	@test -x $(VENV)-simulators/bin/python || $(PYTHON) -m venv $(VENV)-simulators
	$(VENV)-simulators/bin/python -m pip install --quiet --disable-pip-version-check 'pip>=25.1'
	$(VENV)-simulators/bin/python -m pip install --quiet -e '.[simulators,plots]' --group test
	$(VENV)-simulators/bin/python -m pytest -n auto -m simulators tests/simulators tests/benchmarks

bench: $(READY)
	$(BIN)/python -m benchmarks.suggestion

clean:
	rm -rf $(VENV) $(VENV)-simulators build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
