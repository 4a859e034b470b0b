# make demo      see it work on real Mem0, in under two minutes from a fresh machine
# make test      install and run the tests that need no server
# make test-all  the wider ring: PostgreSQL, Neo4j, a browser, a soak, races between processes, kill -9 at every write
# make lint      ruff and strict types
# make bench     the figures of docs/performance.md
# make docs      regenerate the parts of docs/ that commands write
# make figures   both of these: docs/figures.md and docs/performance.md, which README quotes
# make soak      an hour of mixed traffic with faults (MINUTES=60, URL=a ledger of its own)

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m uv pip install --quiet --python $(BIN)/python

.PHONY: demo test test-all lint bench bench-full docs figures soak clean

MINUTES ?= 60

$(BIN)/.uv:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@touch $@

$(BIN)/.demo: $(BIN)/.uv pyproject.toml
	$(INSTALL) -c constraints.txt -e ".[mem0,graphiti,embedded]"
	@touch $@

$(BIN)/.test: $(BIN)/.uv pyproject.toml
	$(INSTALL) -c constraints.txt -e ".[all]" --group dev
	@touch $@

$(BIN)/.wide: $(BIN)/.test
	$(INSTALL) -c constraints.txt --group wide --group training
	@touch $@

demo: $(BIN)/.demo
	@MEM0_TELEMETRY=False GRAPHITI_TELEMETRY_ENABLED=false $(BIN)/python -m evaluation.demo $(CHAT)

test: $(BIN)/.test
	# what needs torch, five gigabytes of it, is left to the wider ring
	$(BIN)/python -m pytest -m "not slow and not postgres and not neo4j" --ignore=tests/training/test_export.py

test-all: $(BIN)/.wide
	MEMGATE_REQUIRE_SERVERS=1 $(BIN)/python -m pytest -m "slow or postgres or neo4j"

lint: $(BIN)/.test
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy memgate_core adapters/mem0/memgate_mem0 adapters/graphiti/memgate_graphiti adapters/langchain/memgate_langchain evaluation --exclude evaluation/training/

bench: $(BIN)/.test
	$(BIN)/python -m evaluation.performance

bench-full: $(BIN)/.wide
	$(BIN)/python -m evaluation.performance --full

docs: $(BIN)/.test
	$(BIN)/python -m evaluation.write_docs

figures: docs bench-full

soak: $(BIN)/.test
	$(BIN)/python -m evaluation.soak --minutes $(MINUTES) $(if $(URL),--url $(URL))

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache build dist
