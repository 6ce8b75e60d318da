# Everything a developer, a packager or CI does goes through here: the same commands on every machine.
# After set-up, tools come from node_modules/.bin, and so does Node itself (pinned by package-lock.json).

PREFIX      ?= /usr/local
BINDIR      ?= $(PREFIX)/bin
CNI_BIN_DIR ?= /opt/cni/bin
DESTDIR     ?=

# Test files to run; empty means all that .taprc includes.
TESTS ?=

export PATH := $(CURDIR)/node_modules/.bin:$(PATH)

NODE := node_modules/.bin/node
EXECUTABLES := dist/ipkeeper dist/ipkeeper-server

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup build generate check check-types check-lint check-format check-architecture check-generated
.PHONY: format callers test test-cluster conformance fuzz bench release demo install uninstall clean

help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install what is missing: npm packages (Node 24 among them) and, as root on Debian, system packages
	@sh scripts/setup.sh

build: setup ## Make dist/ipkeeper and dist/ipkeeper-server, one self-contained executable each
	@$(NODE) scripts/build-executables.ts

generate: setup ## Write the files that are made from the schemas and catalogues
	@for script in scripts/generate-*.ts; do echo "$$script"; $(NODE) "$$script" || exit 1; done

check: check-types check-lint check-format check-architecture check-generated ## Check types, lint, formatting, import direction and that generated files are fresh

# Each a target of its own, so that "make -k -j2 check" shows every complaint in one go.
check-types: setup
	@echo 'check: types' && tsc --noEmit

check-lint: setup
	@echo 'check: lint' && eslint .

check-format: setup
	@echo 'check: formatting' && prettier --check --log-level warn .

check-architecture: setup
	@echo 'check: architecture' && $(NODE) scripts/check-architecture.ts

check-generated: setup
	@echo 'check: generated files' && $(NODE) scripts/check-generated.ts

format: setup ## Format the sources in place
	@prettier --write --log-level warn .

callers: setup ## Build cnitool, go-cni, current reference plugins and containerd 2 for the tests, where Go is
	@$(NODE) scripts/build-callers.ts

# Building programs of others may take minutes, so only a run that has a use for them does it. A failure is no end:
# what needs them is then skipped, with a reason that CI does not accept.
test: check build ## Check, build and run every test (TESTS="file ..." runs only those)
	@case '$(TESTS)' in '' | *callers*) $(NODE) scripts/build-callers.ts || true ;; esac
	@case '$(TESTS)' in '' | *cluster*) $(NODE) scripts/build-tools.ts || true ;; esac
	@$(NODE) scripts/run-tests.ts $(TESTS)

test-cluster: build ## Run the tests that need a real Kubernetes API server, built first where Go is
	@$(NODE) scripts/build-tools.ts || true
	@$(NODE) scripts/run-tests.ts test/cluster

conformance: build ## Try the executables for every requirement of the protocol, write docs/conformance.md
	@WRITE_CONFORMANCE=1 $(NODE) scripts/run-tests.ts test/spec

fuzz: build ## Try the properties of test/fuzz with ever other cases (FUZZ_RUNS rounds or FUZZ_SECONDS; FUZZ_SEED)
	@$(NODE) scripts/fuzz.ts

bench: build ## Measure processes, daemon, pairs, pods and many nodes; print tables, write bench/results.json
	@$(NODE) scripts/build-executables.ts --trivial
	@$(NODE) scripts/build-tools.ts || true
	@$(NODE) scripts/build-whereabouts.ts || true
	@$(NODE) bench/main.ts

release: setup ## Write tarballs for x64 and arm64 with checksums and bills of materials into dist/release
	@$(NODE) scripts/release.ts

demo: build ## Run the main job on real containerd and show each step
	@$(NODE) scripts/demo.ts

# A new file under a temporary name, then a rename: a runtime that starts the plugin meanwhile gets the old one
# or the new one, whole. The name begins with a dot, so no conflist can mean it.
install: | $(EXECUTABLES) ## Install to /opt/cni/bin and PREFIX/bin (DESTDIR, PREFIX, BINDIR, CNI_BIN_DIR are honoured)
	@install -d "$(DESTDIR)$(CNI_BIN_DIR)" "$(DESTDIR)$(BINDIR)"
	@install -m 0755 dist/ipkeeper "$(DESTDIR)$(CNI_BIN_DIR)/.ipkeeper.new"
	@mv -f "$(DESTDIR)$(CNI_BIN_DIR)/.ipkeeper.new" "$(DESTDIR)$(CNI_BIN_DIR)/ipkeeper"
	@install -m 0755 dist/ipkeeper-server "$(DESTDIR)$(BINDIR)/.ipkeeper-server.new"
	@mv -f "$(DESTDIR)$(BINDIR)/.ipkeeper-server.new" "$(DESTDIR)$(BINDIR)/ipkeeper-server"
	@ln -sfn ipkeeper-server "$(DESTDIR)$(BINDIR)/ipkeeperctl"
	@echo "installed $(DESTDIR)$(CNI_BIN_DIR)/ipkeeper and $(DESTDIR)$(BINDIR)/ipkeeper-server (ipkeeperctl)"

$(EXECUTABLES):
	@$(MAKE) --no-print-directory build

uninstall: ## Remove what install put there; state and configuration stay
	@rm -f "$(DESTDIR)$(CNI_BIN_DIR)/ipkeeper" "$(DESTDIR)$(BINDIR)/ipkeeper-server" "$(DESTDIR)$(BINDIR)/ipkeeperctl"

clean: ## Remove what was built; node_modules stays
	@rm -rf dist .tap .cache
