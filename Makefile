# make demo    the comparison on four regions, with figures under out/demo/
# make test    the test suite
# make quick   the fast tests alone: for use while one writes
# make coverage  what the fast tests run of each file
# make lint    style, format and types
# make readme  the README's outputs and the scenario reference, made afresh
# make validate  docs/validation.md, run afresh: published numbers beside simulated ones
# make benchmarks  what ddsim costs, beside what it is compared with (docs/performance.md)
# make clean   everything that was made
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ddsim-installed

.PHONY: demo test quick coverage lint format readme validate benchmarks clean

demo: $(STAMP)
	$(BIN)/ddsim run scenarios/four_regions_12b.yaml --out out/demo
	$(BIN)/ddsim --quiet run scenarios/chaos_drill.yaml --out out/demo/chaos_drill
	@echo "Results and figures are in out/demo/ and out/demo/chaos_drill/"

test: $(STAMP)
	@$(BIN)/python -m pytest -n auto --dist worksteal

quick: $(STAMP)
	@$(BIN)/python -m pytest -n auto --dist worksteal -q -m "not slow"

coverage: $(STAMP)
	@$(BIN)/python -m pytest -n auto --dist worksteal -m "not slow" --cov --cov-report=term

lint: $(STAMP)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

format: $(STAMP)
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

readme: $(STAMP)
	$(BIN)/python tests/readme.py --write
	$(BIN)/python tests/scenario_reference.py --write

validate: $(STAMP)
	$(BIN)/ddsim reproduce --out out/validation
	cp out/validation/validation.md docs/validation.md

benchmarks: $(STAMP)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[benchmark]'
	@$(BIN)/python -m pytest -c benchmarks/pytest.ini benchmarks

# The stamp is newer than what says what to install, so that a second run starts at once.
$(STAMP): setup.cfg pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "ddsim needs Python 3.11 or later; name one: make PYTHON=python3.12")'
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

clean:
	rm -rf $(VENV) out build dist *.egg-info .coverage htmlcov .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
