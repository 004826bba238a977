# Packages for every platform, and what a release needs.
#
#   make dist            all artefacts that one Linux machine can make, in build/dist, with SHA256SUMS
#   make dist OF=python     the source distribution and the wheels; TARGETS="x86_64-unknown-linux-gnu …" limits
#   make dist OF=node       the npm packages; TARGETS as above
#   make dist OF=java       the jar, its sources and its pages; TARGETS as above
#   make dist OF=c          archives for C and C++, Debian packages and RPMs; TARGETS as above
#   make dist OF=server     leafid-server for this machine's kind of processor: an archive, a Debian package and a container image
#   make check OF=crates    what crates.io and docs.rs get: cargo package, cargo deny, the oldest Rust
#   make check OF=workflows actionlint over .github/workflows
#   make check OF=chart     helm lint over the chart of leafid-server, and its manifests

packaging_tools := build/venv-packaging
actionlint_version := v1.7.12
helm_version := v3.22.0

.PHONY: dist/all dist/python dist/node dist/java dist/c dist/server check/version check/crates check/workflows check/chart

dist/all: dist/python dist/node dist/java dist/c dist/server
	@$(packaging_tools)/bin/python packaging/dist.py summary

dist/python: $(packaging_tools)/done build/LICENSE-THIRD-PARTY
	@cp build/LICENSE-THIRD-PARTY python/
	@$(packaging_tools)/bin/python packaging/dist.py python $(TARGETS)

dist/node: $(packaging_tools)/done need/node made/wasm build/LICENSE-THIRD-PARTY
	@$(packaging_tools)/bin/python packaging/dist.py node $(TARGETS)

dist/java: $(packaging_tools)/done need/java
	@$(packaging_tools)/bin/python packaging/dist.py java $(TARGETS)

dist/c: $(packaging_tools)/done
	@$(packaging_tools)/bin/python packaging/dist_c.py $(TARGETS)

dist/server: need/tools
	@python3 packaging/dist_server.py

# Of the crates in the libraries, for what is packed.
build/LICENSE-THIRD-PARTY: Cargo.lock Cargo.toml $(wildcard core/Cargo.toml bindings/*/Cargo.toml) packaging/notices.py
	@python3 packaging/notices.py $@

$(packaging_tools)/done: packaging/requirements.txt
	$(call python_make_venv,$(python_base),$(packaging_tools))
	@$(packaging_tools)/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

# One version in every file that has one.
check/version:
	@python3 packaging/version.py >/dev/null

check/crates: check/version
	@python3 packaging/crates.py

check/workflows: build/go/bin/actionlint
	@build/go/bin/actionlint

check/chart: chart := packaging/server/helm --set store.url=mysql://leaf:PASSWORD@db/leaf
check/chart: build/go/bin/helm
	@build/go/bin/helm lint --strict $(chart)
	@build/go/bin/helm template ids $(chart) --set options.lease-ms=30000 --set serviceMonitor.enabled=true | \
	    grep -A1 LEAFID_SERVER_LEASE_MS | grep -q '"30000"'
	@! build/go/bin/helm template ids packaging/server/helm 2>/dev/null
	@python3 tests/blocks.py docs/SERVER-SETUPS.md build/chart
	@build/go/bin/helm template ids $(chart) --values build/chart/values.yaml >build/chart/ids.yaml
	@for said in 'LEAFID_SERVER_TLS_CERT' 'path: /health.*HTTPS' 'path: /ready.*HTTPS' 'mountPath: /files' 'secretName: ids-files'; do \
	    grep -q "$$said" build/chart/ids.yaml || { echo "the chart with values.yaml lacks: $$said" >&2; exit 1; }; done

build/go/bin/helm:
	@command -v go >/dev/null || { echo "helm needs Go: install it from go.dev" >&2; exit 1; }
	@GOBIN=$(CURDIR)/build/go/bin go install helm.sh/helm/v3/cmd/helm@$(helm_version)

build/go/bin/actionlint:
	@command -v go >/dev/null || { echo "actionlint needs Go: install it from go.dev" >&2; exit 1; }
	@GOBIN=$(CURDIR)/build/go/bin go install github.com/rhysd/actionlint/cmd/actionlint@$(actionlint_version)
