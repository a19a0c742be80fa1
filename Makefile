# Every target makes the Python environment it needs by itself (.venv-5.2, .venv-4.5): see tools/environments.
.DEFAULT_GOAL := help
.PHONY: help demo demo-pages test test-all test-window build repository release pictures films site lint bench measure clean
NEWEST = $$(tools/environments newest)

help: ## say what can be made
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' Makefile | expand -t 20

demo: ## a character that looks at a ball, two who talk, and arms with weight: build/demo/*.blend, and pictures
	@python=$(NEWEST) && "$$python" assets/demo --output build/demo

demo-pages: demo ## the pictures and tables of the demo in the documents, from build/demo
	@python=$(NEWEST) && "$$python" tools/demo_pages.py

test: ## the quick tests, on the newest bpy that fits; ARGS go to pytest
	@tools/test $(ARGS)

test-all: ## all tests, what may differ on the older bpy too, and in a real Blender if BLENDER names one
	@tools/test --all $(ARGS)

test-window: ## the tests in Blender's window only; needs BLENDER, and a screen or Xvfb
	@python=$(NEWEST) && tools/test-in-window "$$python" $(ARGS)

build: ## the extension's zips, one for each platform, built and validated by Blender's own tools: build/*.zip
	@tools/build --all

repository: ## what Blender installs the extension from, made and checked by its own tools: build/repository
	@tools/build --repository

release: ## what a release publishes: zips, checksums, repository and site, after checks: build/release; ARGS: --tag NAME
	@python=$(NEWEST) && "$$python" tools/release.py $(ARGS)

pictures: ## the documents' pictures of Blender's window: docs/images; needs BLENDER; ARGS may name some
	@tools/pictures $(ARGS)

films: ## the documents' films: docs/images/films; ARGS may name some, or be --check; those of the window need BLENDER
	@python=$(NEWEST) && "$$python" docs/films $(ARGS)

site: ## the site of the documents, in English and Japanese: build/site
	@tools/site $(ARGS)

lint: ## style, format and types
	@tools/lint

bench: ## the speed figures; ARGS: names of benchmarks, --check to compare ratios, --write for docs/benchmarks.md
	@python=$(NEWEST) && "$$python" benchmarks $(ARGS)

measure: ## how large the code is, and how many files a value passes; ARGS: another checkout, --list
	@python=$(NEWEST) && "$$python" tools/measure.py $(ARGS)

clean: ## remove everything that the other targets made
	@rm -rf build .venv-*.* .venv.lock .pytest_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -prune -exec rm -rf {} +
