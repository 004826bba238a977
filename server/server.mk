# The id server, on real databases: SQLite, MariaDB, PostgreSQL and etcd. As root, what is missing is installed from Debian's
# packages; otherwise its tests are skipped, and say so.

.PHONY: test/server test/monitor need/server made/server

test/server: need/tools need/server build/venv-schemathesis/done
	@cargo test --quiet -p leafid-server
	@cargo build --quiet -p leafid-server
	@LEAFID_SERVER_BINARY=$(abspath $(or $(CARGO_TARGET_DIR),target))/debug/leafid-server \
	    $(MAKE) --no-print-directory pytest_of="--dist=worksteal tests/server" pytest_jobs=6 run/pytest

# The monitor page in a real browser.
server_browser := build/monitor

test/monitor: need/tools $(server_browser)/installed
	@sh tests/debian.sh $(browser_programs)
	@cargo build --quiet -p leafid-server
	@cp tests/server/monitor.test.mjs $(server_browser)/
	@LEAFID_SERVER_BINARY=$(abspath $(or $(CARGO_TARGET_DIR),target))/debug/leafid-server \
	    $(alone) node --test $(node_hang) --test-reporter=spec $(server_browser)/monitor.test.mjs

# The same driver of browsers as that of tests/wasm_js.
$(server_browser)/installed: tests/wasm_js/package.json
	@mkdir -p $(server_browser) && echo '{ "private": true }' >$(server_browser)/package.json
	@cd $(server_browser) && npm install --loglevel=error --no-save --no-package-lock --no-audit --no-fund \
	    playwright-core@$$(sed -n 's/.*"playwright-core": "\(.*\)".*/\1/p' $(CURDIR)/$<)
	@touch $@

# build/leafid-server, for tests and the demo.
made/server: need/rust
	@echo "== building leafid-server"
	@cargo build --quiet -p leafid-server
	@mkdir -p build
	@cmp -s $(or $(CARGO_TARGET_DIR),target)/debug/leafid-server build/leafid-server || \
	    cp $(or $(CARGO_TARGET_DIR),target)/debug/leafid-server build/

need/server:
	@PATH=$$PATH:$$(echo /usr/lib/postgresql/*/bin | tr ' ' ':') sh tests/debian.sh \
	    mariadbd:mariadb-server postgres:postgresql pgbouncer:pgbouncer etcd:etcd-server faketime:faketime \
	    openssl:openssl nginx:nginx-light || \
	    echo "tests that need them are skipped" >&2

# Compares server/openapi.json with the answers of a server.
build/venv-schemathesis/done: tests/server/requirements.txt
	$(call python_make_venv,$(python_base),build/venv-schemathesis)
	@build/venv-schemathesis/bin/pip install --quiet --disable-pip-version-check -r tests/server/requirements.txt
	@touch $@
