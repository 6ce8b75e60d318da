# Everything a developer, a packager or CI does goes through here: the same commands on every machine.
# After set-up, tools come from node_modules/.bin, and so does Node itself (pinned by package-lock.json).

PREFIX      ?= /usr/local
BINDIR      ?= $(PREFIX)/bin
CNI_BIN_DIR ?= /opt/cni/bin
CNI_CONF_DIR ?= /etc/cni/net.d
UNITDIR     ?= $(PREFIX)/lib/systemd/system
TMPFILESDIR ?= $(PREFIX)/lib/tmpfiles.d
SHAREDIR    ?= $(PREFIX)/share
DESTDIR     ?=
# CONFLIST=1 has "make install" put the example conflist in place as well, last of all.
CONFLIST    ?=
# PLUGIN=static installs the plugin without Node in the place of the other; README.md says which to take.
PLUGIN      ?=
plugin       = dist/ipkeeper$(if $(filter static,$(PLUGIN)),-static)

# Test files to run; empty means all that .taprc includes.
TESTS ?=

# What the static plugin is tested with in each run, and before an issue is done.
STATIC_TESTS := test/faults test/spec/golden.test.ts test/install/bare-host.test.ts test/packaged/answered.test.ts \
  test/packaged/fallback.test.ts
# What pods wired by ip are tested with in each run, and all of it before an issue is done: each mode, and what is refused and undone.
IP_TESTS := test/main-plugin/result.test.ts test/main-plugin/underlay.test.ts test/main-plugin/macvlan.test.ts test/main-plugin/refusals.test.ts
# What plays only a part of its rows in each run (test/rigs/extent.ts).
EXTENDED_TESTS := $(shell grep -rl rigs/extent.ts --include=*.test.ts test)
# An address sanitizer reserves more of the address space than limits.test.ts leaves it, and 15 MB of lists take it minutes.
SANITIZED_TESTS := $(filter-out %/limits.test.ts %/stdin.test.ts,$(wildcard test/faults/*.test.ts)) test/spec/golden.test.ts test/packaged/fallback.test.ts
ALL_STATIC_TESTS := test/spec test/packaged test/callers test/main-plugin test/privileged test/identity test/soak/soak.test.ts

export PATH := $(CURDIR)/node_modules/.bin:$(PATH)

NODE := node_modules/.bin/node
EXECUTABLES := dist/ipkeeper dist/ipkeeper-server

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup packages build static image generate check check-types check-lint check-format check-architecture check-generated
.PHONY: format callers test test-all coverage test-cluster test-kubelet cluster conformance fuzz simulate soak bench release demo install install-conflist uninstall clean

help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install what tests and demo need: npm packages (Node 24 among them) and, as root on Debian, system packages
	@sh scripts/setup.sh

# All that building needs. A host that ipkeeper is installed on gets no servers and shells for tests.
packages:
	@sh scripts/setup.sh --packages

build: packages ## Make dist/ipkeeper and dist/ipkeeper-server, one self-contained executable each
	@$(NODE) scripts/build-executables.ts

static: packages ## Make dist/ipkeeper-static, the plugin without Node, where a C compiler and cargo are (ARCH=arm64 for another)
	@$(NODE) scripts/build-static.ts $(if $(ARCH),--arch $(ARCH))

image: build static ## Build the image of deploy/Dockerfile on a base named by its digest (IMAGE=NAME:TAG, BASE=NAME:TAG[@DIGEST], BUILDER=docker|buildah)
	@$(NODE) scripts/build-image.ts $(if $(IMAGE),--tag $(IMAGE)) $(if $(BASE),--base $(BASE)) $(if $(BUILDER),--builder $(BUILDER))

generate: packages ## Write the files that are made from the schemas and catalogues
	@for script in scripts/generate-*.ts; do echo "$$script"; $(NODE) "$$script" || exit 1; done

check: check-types check-lint check-format check-architecture check-generated ## Check types, lint, formatting, import direction and that generated files are fresh

# Each a target of its own, so that "make -k -j2 check" shows every complaint in one go.
check-types: packages
	@echo 'check: types' && tsc --noEmit && tsc --noEmit --project ipkeeper-server/http/page/client

check-lint: packages
	@echo 'check: lint' && eslint .

check-format: packages
	@echo 'check: formatting' && prettier --check --log-level warn .

check-architecture: packages
	@echo 'check: architecture' && $(NODE) scripts/check-architecture.ts

check-generated: packages
	@echo 'check: generated files' && $(NODE) scripts/check-generated.ts

format: packages ## Format the sources in place
	@prettier --write --log-level warn .

callers: setup ## Build cnitool, go-cni, current reference plugins, containerd 2 and Multus for the tests, where Go is
	@$(NODE) scripts/build-callers.ts
	@$(NODE) scripts/build-multus.ts

# Building programs of others may take minutes, so only a run that has a use for them does it. A failure is no end:
# what needs them is then skipped, with a reason that CI does not accept.
test: setup check build static ## Check, build and run every test (TESTS="file ..." runs only those)
	@case '$(TESTS)' in '' | *callers* | *kubelet*) $(NODE) scripts/build-callers.ts || true ;; esac
	@case '$(TESTS)' in '' | *multus*) $(NODE) scripts/build-multus.ts || true ;; esac
	@case '$(TESTS)' in *kubelet*) $(NODE) scripts/build-tools.ts --nodes || true ;; '' | *cluster* | *multus*) $(NODE) scripts/build-tools.ts || true ;; esac
	@case '$(TESTS)' in '' | *cluster*) $(NODE) scripts/build-helm.ts || true ;; esac
	@$(NODE) scripts/run-tests.ts $(TESTS)
	@[ -n '$(TESTS)' ] || [ ! -e dist/ipkeeper-static ] || PLUGIN=static $(NODE) scripts/run-tests.ts $(STATIC_TESTS)
	@[ -n '$(TESTS)' ] || IPK_NETLINK=off $(NODE) scripts/run-tests.ts $(IP_TESTS)

# kubelet takes ten minutes to build the first time: the stories on nodes are in "make test" where that was done.
test-all: test ## Run every test, then for 40 minutes what is too long for each run: nodes, more histories, coverage, fuzz, soak
	@$(NODE) scripts/build-tools.ts --nodes && $(NODE) scripts/run-tests.ts test/kubelet
	@$(NODE) scripts/build-whereabouts.ts && $(NODE) scripts/run-tests.ts test/callers/multus-whereabouts.test.ts test/moving/objects.test.ts
	@HISTORY_RUNS=20000 SHARED_RUNS=600 $(NODE) scripts/run-tests.ts test/properties/histories.test.ts test/properties/shared-ledger.test.ts
	@SIMULATED_SECONDS=180 $(NODE) scripts/run-tests.ts test/simulation/simulation.test.ts
	@EXTENT=all $(NODE) scripts/run-tests.ts $(EXTENDED_TESTS)
	@IPK_NETLINK=off $(NODE) scripts/run-tests.ts test/main-plugin
	@[ ! -e dist/ipkeeper-static ] || PLUGIN=static $(NODE) scripts/run-tests.ts $(ALL_STATIC_TESTS)
	@[ ! -e dist/ipkeeper-static ] || PLUGIN=static IPK_NETLINK=off $(NODE) scripts/run-tests.ts test/main-plugin
	@[ ! -e dist/ipkeeper-static ] || { $(NODE) scripts/build-static.ts --sanitize && PLUGIN=sanitized $(NODE) scripts/run-tests.ts $(SANITIZED_TESTS); }
	@SOAK_PROOF=1 $(NODE) scripts/run-tests.ts test/soak/faults.test.ts
	@$(MAKE) coverage fuzz soak

coverage: setup build ## Run the unit tests, say what they cover, raise the floors in scripts/coverage-floors.json
	@$(NODE) scripts/run-tests.ts --raise-floors

test-cluster: setup build ## Run the tests that need a real Kubernetes API server, built first where Go is
	@$(NODE) scripts/build-tools.ts || true
	@$(NODE) scripts/build-helm.ts || true
	@$(NODE) scripts/run-tests.ts test/cluster

test-kubelet: setup build ## Run the stories on a real cluster with nodes, whose programs are built first where Go is; as root
	@$(NODE) scripts/build-callers.ts || true
	@$(NODE) scripts/build-tools.ts --nodes || true
	@$(NODE) scripts/run-tests.ts test/kubelet

cluster: setup build ## Start a real cluster with ipkeeper installed, and keep it until Ctrl-C (NODES, 2 unless set); as root
	@$(NODE) scripts/build-callers.ts || true
	@$(NODE) scripts/build-tools.ts --nodes || true
	@$(NODE) scripts/cluster.ts $(if $(NODES),--nodes $(NODES))

conformance: setup build ## Try the executables for every requirement of the protocol, write docs/reference/conformance.md
	@WRITE_CONFORMANCE=1 $(NODE) scripts/run-tests.ts test/spec

fuzz: setup build ## Try the properties of test/fuzz with ever other cases (FUZZ_RUNS rounds or FUZZ_SECONDS; FUZZ_SEED)
	@$(NODE) scripts/fuzz.ts

simulate: packages ## Play lives of whole daemons in virtual time (KIND, SEED, COUNT, HOURS, KEEP, STORY, FAULT)
	@$(NODE) scripts/simulate.ts

soak: setup build ## Play daemons, etcd, disks and clocks through all that goes wrong (SOAK_MINUTES, 10 unless set; SEED; FAULT)
	@$(NODE) scripts/soak.ts

bench: setup build static ## Measure processes, daemon, pairs, pods and many nodes; print tables, write bench/results.json
	@$(NODE) scripts/build-executables.ts --trivial
	@$(NODE) scripts/build-callers.ts || true
	@$(NODE) scripts/build-tools.ts || true
	@$(NODE) scripts/build-whereabouts.ts || true
	@$(NODE) bench/main.ts

release: packages ## Write tarballs for x64 and arm64 with checksums and bills of materials into dist/release
	@$(NODE) scripts/release.ts

demo: build ## Run the main job on real containerd and show each step
	@sh scripts/setup.sh --demo
	@$(NODE) scripts/demo.ts

# $(call put,FILE,MODE,FOLDER,NAME): a new file under a temporary name, then a rename: a runtime that starts the plugin, or
# reads its configuration, meanwhile gets the old one or the new one, whole. The name begins with a dot and ends in .new,
# so no conflist can mean it, and no runtime takes it for one.
define put
	@install -d "$(DESTDIR)$(3)"
	@install -m $(2) "$(1)" "$(DESTDIR)$(3)/.$(4).new"
	@mv -f "$(DESTDIR)$(3)/.$(4).new" "$(DESTDIR)$(3)/$(4)"
endef

# Man pages and completions, where they were built.
share = $(shell cd dist/share 2>/dev/null && find . -type f | sed 's|^\./||')

install: | $(EXECUTABLES) $(plugin) ## Install to CNI_BIN_DIR and PREFIX, with systemd's unit (DESTDIR is honoured; CONFLIST=1: the conflist, too; PLUGIN=static)
	$(call put,dist/ipkeeper-server,0755,$(BINDIR),ipkeeper-server)
	@ln -sfn ipkeeper-server "$(DESTDIR)$(BINDIR)/ipkeeperctl"
	$(call put,$(plugin),0755,$(CNI_BIN_DIR),ipkeeper)
	@install -d "$(DESTDIR)$(UNITDIR)" "$(DESTDIR)$(TMPFILESDIR)"
	@sed 's|^\(Exec[A-Za-z]*=-*\)/usr/local/bin/|\1$(BINDIR)/|' deploy/systemd/ipkeeper.service >"$(DESTDIR)$(UNITDIR)/ipkeeper.service"
	@install -m 0644 deploy/systemd/ipkeeper.conf "$(DESTDIR)$(TMPFILESDIR)/ipkeeper.conf"
	@for file in $(share); do install -D -m 0644 "dist/share/$$file" "$(DESTDIR)$(SHAREDIR)/$$file" || exit 1; done
	@echo "installed $(DESTDIR)$(CNI_BIN_DIR)/ipkeeper and $(DESTDIR)$(BINDIR)/ipkeeper-server (ipkeeperctl)"
	@echo "and $(DESTDIR)$(UNITDIR)/ipkeeper.service; next: systemctl enable --now ipkeeper"
	@[ -z "$(CONFLIST)" ] || $(MAKE) --no-print-directory install-conflist

# What is there stays: somebody may have adapted it.
install-conflist: ## Put deploy/cni/10-ipkeeper.conflist into CNI_CONF_DIR, by which the node's pods begin to use ipkeeper
	@there="$(DESTDIR)$(CNI_CONF_DIR)/10-ipkeeper.conflist"; \
	if [ -e "$$there" ] && ! cmp -s deploy/cni/10-ipkeeper.conflist "$$there"; then \
	  echo "$$there is there already, with other text, and stays; compare: diff deploy/cni/10-ipkeeper.conflist $$there" >&2; \
	  exit 1; \
	fi
	$(call put,deploy/cni/10-ipkeeper.conflist,0644,$(CNI_CONF_DIR),10-ipkeeper.conflist)
	@echo "installed $(DESTDIR)$(CNI_CONF_DIR)/10-ipkeeper.conflist"

$(EXECUTABLES):
	@$(MAKE) --no-print-directory build

dist/ipkeeper-static:
	@$(MAKE) --no-print-directory static
	@[ -e $@ ] || { echo 'without dist/ipkeeper-static there is nothing to install: see the line above' >&2; exit 1; }

# In the other order: as long as a conflist names the plugin, runtimes start it, for the DEL of each pod too.
uninstall: ## Remove what install put there; state, configuration and a conflist that was adapted stay
	@there="$(DESTDIR)$(CNI_CONF_DIR)/10-ipkeeper.conflist"; \
	if cmp -s deploy/cni/10-ipkeeper.conflist "$$there"; then rm -f "$$there"; fi
	@left=$$(grep -ls '"ipkeeper"' "$(DESTDIR)$(CNI_CONF_DIR)"/* || true); [ -z "$$left" ] || \
	  echo "these still name the plugin; as long as they do, no pod of theirs starts or ends: $$left" >&2
	@rm -f "$(DESTDIR)$(CNI_BIN_DIR)/ipkeeper" "$(DESTDIR)$(BINDIR)/ipkeeper-server" "$(DESTDIR)$(BINDIR)/ipkeeperctl"
	@rm -f "$(DESTDIR)$(UNITDIR)/ipkeeper.service" "$(DESTDIR)$(TMPFILESDIR)/ipkeeper.conf"
	@for file in $(share); do rm -f "$(DESTDIR)$(SHAREDIR)/$$file"; done

clean: ## Remove what was built; node_modules stays
	@rm -rf dist .tap .cache
