# Everything people and machines do here; `make help` lists it. Call targets, not tools.
SHELL := /bin/bash
.DEFAULT_GOAL := help
VENV := .venv/bin
READY := .venv/.ready
MEMBERS := $(wildcard libs/*/pyproject.toml services/*/pyproject.toml)
PACKAGES := $(filter-out copycat,$(notdir $(wildcard libs/*/copycat_*) $(wildcard services/*/copycat_*)))
# What `make types` checks: every package, the tools and the tests.
TYPED := $(PACKAGES) tools tests
UV = $(shell command -v uv || echo build/uv/bin/uv)
SCHEMAS := build/kubernetes-validate
PYTEST := $(VENV)/python -m pytest
# What Python and pytest compile is kept, also where the machine says otherwise: each process would compile it anew.
unexport PYTHONDONTWRITEBYTECODE
# Processes of the tests; those that share a running system stay in one of them (tests/conftest.py). Tests wait about
# half of their time: three processes keep two cores busy, and leave what a condition needs to become true in time.
SIDE_BY_SIDE := -n 3 --no-loadscope-reorder
# Without the long tests, with a few examples of each property; `make test-long` has the others, `make test BRIEF=` all.
BRIEF := -m "not long" --hypothesis-profile=brief
# The generated stubs are the one package that is named otherwise than its distribution.
STUBS := --package-module-name-map copycat-contracts=copycat
RELEASED_CONTRACTS := proto/released.binpb
FAST := tests/unit tests/laws tests/contract tests/conformance
ALL := $(FAST) tests/integration tests/compat tests/chaos

.PHONY: help setup demo up test test-long test-fast test-integration test-compat test-chaos record-answers e2e e2e-core e2e-table images audit helm helm-cluster crash-matrix spark-rounds recovery-table isolation-table bench load load-simulation load-costs fmt lint types gen check-gen breaking release-contracts docs check clean

help: ## Show this list.
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "  \033[1m%-18s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(READY) ## Install everything: uv, the lock file's packages, a Java runtime where none is found, Kafka's jars.

$(READY): pyproject.toml uv.lock tools/setup.sh $(MEMBERS)
	@bash tools/setup.sh
	@touch $@

demo: setup ## Copy a real file through Kafka into another one and compare them.
	@$(VENV)/python tools/demo.py

up: setup ## Start Copycat with an embedded Kafka; Ctrl-C drains and stops it.
	@$(VENV)/copycat up

test: setup ## Prove every row of the documents: rules, real Kafka and Spark, kill -9, Apache Kafka Connect's answers.
	@$(PYTEST) $(SIDE_BY_SIDE) $(BRIEF) $(ALL)

test-long: setup ## What `make test` leaves out: tests of systems that show no row, wide sets, storms, upgrades, more examples.
	@$(PYTEST) $(SIDE_BY_SIDE) -m "long or hypothesis" $(ALL)

test-fast: setup ## Unit, laws, contract and conformance tests; some minutes on two cores.
	@$(PYTEST) $(SIDE_BY_SIDE) $(BRIEF) $(FAST)

test-integration: setup ## Tests on real Kafka and real Spark.
	@$(PYTEST) $(SIDE_BY_SIDE) tests/integration

test-compat: setup ## Tests beside Apache Kafka Connect 4.4.0.
	@$(PYTEST) $(SIDE_BY_SIDE) tests/compat

test-chaos: setup ## kill -9 of every service, host and JVM, counted line by line.
	@$(PYTEST) $(SIDE_BY_SIDE) tests/chaos

record-answers: setup ## Ask Apache Kafka Connect anew what `make test` compares Copycat's REST answers with.
	@$(VENV)/python -m tests.compat.rest.recorded

e2e: setup ## Run every service and three brokers in containers, break things; prints what failures cost.
	@$(PYTEST) tests/e2e

e2e-core: setup ## The core of it: one pipeline, an executor and the leader of each log killed.
	@$(PYTEST) tests/e2e/fleet/test_core.py

e2e-table: setup ## All of it; keeps what failures cost in deploy/E2E.md.
	@$(PYTEST) tests/e2e --write-table

images: setup ## Build the images of the services, and tell their sizes.
	@$(VENV)/python -m tools.containers

audit: setup ## What is known against the locked packages and jars; AUDIT=--without-data bears a service that is away.
	@$(VENV)/python -m tools.audit $(AUDIT)

helm: setup $(SCHEMAS) ## Render the Helm chart, lint it, compare it with the schemas of Kubernetes.
	@PYTHONPATH=$(SCHEMAS) $(PYTEST) tests/helm --ignore=tests/helm/cluster

helm-cluster: setup ## Install the chart in the cluster of KUBECONFIG, else in one made here (root), and break it.
	@test -n "$(KUBECONFIG)" || $(VENV)/python -m tools.cluster.programs
	@$(PYTEST) tests/helm/cluster

$(SCHEMAS):
	@$(UV) pip install --quiet --no-deps --target $@ kubernetes-validate==1.37.0 importlib-resources==7.1.0

crash-matrix: setup ## Strike a running system 200 times, count lost and repeated records; about half an hour.
	@$(VENV)/python -m tools.crash_matrix

spark-rounds: setup ## Strike drivers of Spark and what they depend on, count every record; about half an hour.
	@$(VENV)/python -m tools.spark_rounds

recovery-table: setup ## Have a running system suffer each failure once, measure what it costs; about half an hour.
	@$(VENV)/python -m tools.recovery_table

isolation-table: setup ## Do to a running system what one user, record or topic can do; writes services/launcher/ISOLATION.md.
	@$(VENV)/python -m tools.isolation_table --write

bench: setup ## Measure Copycat against Apache Kafka Connect in one run; writes build/bench.json.
	@$(VENV)/python -m tools.bench

load: setup ## Grow a cluster of three executors to 500 connectors, let them come and go; writes tools/load/LOAD.md.
	@$(VENV)/python -m tools.load --write

load-simulation: setup ## What 10,000 connectors cost the services, without their tasks; writes tools/load/LOAD.md.
	@$(VENV)/python -m tools.load.simulation --write

load-costs: setup ## CPU time and sizes of what is done about every connector.
	@$(VENV)/python -m tools.load.costs

fmt: setup ## Format the code.
	@$(VENV)/ruff check -q --fix-only . ; $(VENV)/ruff format -q .

lint: setup ## Style, import contracts, declared dependencies, proto style, sizes of files and pages, words, names.
	@$(VENV)/ruff check .
	@$(VENV)/ruff format --check .
	@$(VENV)/lint-imports
	@$(VENV)/buf lint
	@$(VENV)/python tools/check_size.py
	@$(VENV)/python tools/check_words.py
	@$(VENV)/python tools/check_names.py
	@for member in $(dir $(MEMBERS)); do found=$$(cd $$member && $(CURDIR)/$(VENV)/deptry . --no-ansi $(STUBS) 2>&1) \
	    || { echo "$$member: $$found"; exit 1; }; done

types: setup ## Check the types, strictly.
	@$(VENV)/mypy $(addprefix -p ,$(TYPED))

gen: setup ## Generate the gRPC stubs from proto/, and the pictures of the documentation.
	@$(VENV)/python tools/gen_proto.py
	@$(VENV)/python tools/draw.py

check-gen: setup ## Fail when the committed stubs and pictures are not what their sources give.
	@$(VENV)/python tools/gen_proto.py --check
	@$(VENV)/python tools/draw.py --check

breaking: setup ## Fail when a contract breaks callers of the released contracts (proto/README.md).
	@$(VENV)/buf breaking --against $(RELEASED_CONTRACTS)

release-contracts: breaking ## At a release: keep today's contracts as the ones later changes are compared with.
	@$(VENV)/buf build --exclude-source-info -o $(RELEASED_CONTRACTS)
	@git rev-parse HEAD > proto/released.commit

docs: setup ## Build the documentation as a site in build/site; a link that leads nowhere fails.
	@$(VENV)/python -m tools.docs_site

check: lint types check-gen breaking test-fast ## What every commit must pass.

clean: ## Remove what was installed and built here; caches of jars stay.
	rm -rf .venv build .pytest_cache .mypy_cache .ruff_cache .hypothesis
