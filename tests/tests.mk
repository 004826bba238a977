# The slower kinds of tests, and what they need.

# Other kinds of Linux, built and tested on x86-64.
#
#   make cross                  glibc 2.17, musl, and aarch64 under qemu-user
#   make cross OF=musl          or glibc, or aarch64

.PHONY: cross/all cross/glibc cross/musl cross/aarch64
cross/all cross/glibc cross/musl cross/aarch64: need/tools
	@python3 tests/cross/linux.py $(filter-out all,$(@F))

# Programs for other systems, tested as far as this machine runs them; slower kinds of .ci/run.
#
#   make cross OF=windows   the host, the C library and the command line for Windows, under wine
#   make cross OF=windows-bindings  Node's addon and tests under wine, the wheel; all of it for aarch64, linked; TARGETS=x86_64 limits
#   make cross OF=macos     everything for macOS, compiled and linked; TARGETS=arm64 or x86_64 limits

.PHONY: cross/windows cross/windows-bindings need/windows cross/macos

# Those of the host's tests that fork nothing, look at no file of Linux and start no server of Python.
windows_tests := cli earlier_files exclusive generate options range_waits segments
# Of these: what has paths of Linux; that a program starts within a short span; names of holders, which only the locks of
# Linux tell.
windows_skips := simulation:: the_runs_that_end_alike_in_all_forms \
    a_reset_is_refused_while_held_and_burns_what_lies_ahead \
    a_second_process_is_refused_at_once_naming_the_holder the_same_settings_share_one_generator

cross/windows: need/windows
	@[ -e build/cross/windows-tools ] || exit 0; \
	export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER="python3 $(CURDIR)/tests/cross/wine.py"; \
	cargo test --quiet --target x86_64-pc-windows-gnu -p leafid -p leafid-one-build --lib $(windows_tests:%=--test=%) -- $(windows_skips:%=--skip %) && \
	cargo build --quiet --target x86_64-pc-windows-gnu -p leafid -p leafid-one-build --bin leafid && \
	python3 tests/cross/windows.py $(or $(CARGO_TARGET_DIR),target)/x86_64-pc-windows-gnu/debug/leafid.exe && \
	python3 tests/cross/windows_c.py

cross/windows-bindings: need/windows build/venv-packaging/done build/LICENSE-THIRD-PARTY
	@[ -e build/cross/windows-tools ] || exit 0; \
	rustup component add llvm-tools >>build/rustup.log 2>&1 || { echo "cross-windows-bindings: skipped: no llvm-tools (rustup component add llvm-tools)" >&2; exit 0; }; \
	python3 tests/cross/windows_bindings.py $(TARGETS)

# As root, what is missing is installed from Debian's packages.
need/windows: need/tools
	@mkdir -p build/cross; rm -f build/cross/windows-tools; \
	if ! sh tests/debian.sh x86_64-w64-mingw32-gcc:gcc-mingw-w64-x86-64 \
	    x86_64-w64-mingw32-g++:g++-mingw-w64-x86-64 wine:wine wine:wine64; then \
	    echo "cross-windows: skipped" >&2; \
	elif ! rustc --print target-libdir --target x86_64-pc-windows-gnu | xargs test -d && \
	    ! rustup target add x86_64-pc-windows-gnu >build/cross/windows-tools.log 2>&1; then \
	    echo "cross-windows: skipped: no Rust for it (rustup target add x86_64-pc-windows-gnu)" >&2; \
	else \
	    touch build/cross/windows-tools; \
	fi

cross/macos: need/tools build/venv-packaging/done
	@if ! command -v rustup >/dev/null || \
	    ! rustup target add aarch64-apple-darwin x86_64-apple-darwin >build/rustup.log 2>&1 || \
	    ! rustup component add llvm-tools clippy >>build/rustup.log 2>&1; then \
	    echo "cross-macos: skipped: no Rust for it (rustup target add aarch64-apple-darwin x86_64-apple-darwin; rustup component add llvm-tools)" >&2; \
	else \
	    python3 tests/cross/macos.py $(TARGETS); \
	fi

# Kills, clocks, disks, forks in the wrong place, valgrind. As root, what is missing is installed from Debian's packages;
# otherwise a test without its tool is skipped, and says so.

system_seed = $(if $(SEED),--seed $(SEED))
system_needs := need/tools need/system made/c made/python made/node made/server made/system

.PHONY: test/system power-cuts hosts need/system made/system made/agents

# Most of them wait.
test/system: $(system_needs)
	@$(MAKE) --no-print-directory pytest_of="--maxschedchunk=1 $(system_seed) tests/system" pytest_jobs=10 run/pytest

# Of these tests the power cuts or the hosts alone, for longer; SEED repeats what befalls them.
power-cuts hosts: system_seconds = $(or $(SECONDS),60)
power-cuts hosts: $(system_needs)
	@SECONDS=$(system_seconds) SEED=$(SEED) $(MAKE) --no-print-directory pytest_jobs=3 run/pytest \
	    pytest_of="-rP -o timeout=$$((900 + 2 * $(system_seconds))) $(system_seed) tests/system/$(subst -,_,$@).py"

need/system:
	@sh tests/debian.sh valgrind:valgrind faketime:faketime strace:strace setpriv:util-linux unshare:util-linux \
	    prlimit:util-linux mkfs.ext4:e2fsprogs mkfs.xfs:xfsprogs ip:iproute2 openssl:openssl || \
	    echo "tests that need them are skipped" >&2

made/system: made/agents build/chaos/sorter
	@# An agent of an older checkout would be taken for this one's.
	@if $(jdk); then $(MAKE) --no-print-directory made/java-agents; \
	    else rm -rf build/java/agent; echo "no JDK: Java is left out" >&2; fi
	@mkdir -p build/system
	@$(or $(CC),cc) -O1 -Wall -Wextra -std=gnu11 -o build/system/stall tests/system/c/stall.c
	@$(or $(CC),cc) -O1 -Wall -Wextra -std=gnu11 -o build/system/pretend tests/system/c/pretend.c

# What makes ids and can be killed, one a language: those of Python and Node are files.
made/agents: need/tools made/c
	@mkdir -p build/agents build/system
	@cargo build --profile $(LEAFID_PROFILE) --quiet -p leafid-agent
	@cmp -s $(built)/leafid-agent build/agents/rust || cp $(built)/leafid-agent build/agents/rust
	@$(or $(CC),cc) -O1 -Wall -Wextra -std=gnu11 -Ibuild/c/include -o build/agents/c $(filter-out %/scenarios.c,$(wildcard tests/agents/c/*.c)) \
	    -Lbuild/c/lib -lleafid -lpthread
	@$(or $(CC),cc) -O1 -Wall -Wextra -std=gnu11 -o build/system/apart tests/system/c/apart.c

# Real processes, killed, stopped, forked, misled: tests/chaos/run.py tells. SECONDS=120; SEED= repeats a schedule. What
# is missing is installed from Debian's packages, as root; without it, or without namespaces, the run fails.

.PHONY: chaos test/chaos

chaos: need/tools need/system made/c made/python made/node made/agents made/java-agents test/chaos
	@timeout --kill-after=10 $$(($(or $(SECONDS),120) + 600)) \
	    python3 tests/chaos/run.py --seconds $(or $(SECONDS),120) $(if $(SEED),--seed $(SEED)) $(if $(KEEP),--keep)

build/chaos/sorter: tests/chaos/sorter.c
	@mkdir -p build/chaos
	@$(or $(CC),cc) -O2 -Wall -Wextra -std=gnu11 -o $@ $<

# What the run itself is judged by.
test/chaos: build/chaos/sorter
	@$(MAKE) --no-print-directory pytest_of=tests/chaos run/pytest

# The whole system under simulation, seed after seed: `make simulate SECONDS=600`. A run that went wrong prints how to see
# it again: `make simulate SEED=… TURNS=…`. `make test` plays some fixed seeds of it. The build is that of the tests: it
# is fast enough, and overflows and assertions are checked in it. For the packages that are tested beside it the dependencies
# are the same.

simulate_of = $(rust_tested) --lib
simulate_seconds = $(or $(SECONDS),60)

.PHONY: simulate
simulate: need/tools
	@cargo test --quiet $(simulate_of) --no-run
	@LEAFID_SIMULATE_SECONDS=$(simulate_seconds) LEAFID_SIMULATE_SEED=$(SEED) LEAFID_SIMULATE_TURNS=$(TURNS) \
	    timeout $$(($(simulate_seconds) + 300)) cargo test --quiet $(simulate_of) -- \
	    --ignored --exact simulation::cluster::report::simulate --nocapture

# Every interleaving of a few threads over the lock-free parts. Some minutes; BOUNDS=small takes one.
# What has locks and threads is tests/shuttle's.

.PHONY: loom
loom: need/tools tests/loom/Cargo.lock
	@cargo test --release --quiet -j2 --manifest-path tests/loom/Cargo.toml --target-dir build/loom-target \
	    --test models -- --show-output

# The threads of segments, many orders of their steps, each drawn by a seed. About a
# minute; TIMES=10 tries ten times as many, SEED=7 MODEL=threads_share_a_tag replays one.

.PHONY: shuttle
shuttle: need/tools tests/shuttle/Cargo.lock
	@cargo test --release --quiet -j2 --manifest-path tests/shuttle/Cargo.toml --target-dir build/shuttle-target \
	    --test models -- --test-threads 2 --show-output $(if $(MODEL),--exact $(MODEL))

# Every order of a few events and faults, with leafid's own core: the bounds are in tests/model/src/bounds.rs, the number of
# states is printed. About ten minutes; BOUNDS=small takes three.

.PHONY: model
model: need/tools
	@cargo test --profile model --quiet -p leafid-model --test models -- --test-threads 1 --show-output

# The C tests with AddressSanitizer and UndefinedBehaviorSanitizer, with the library as it ships, and all that has threads
# with ThreadSanitizer. What is missing is named, and is a failure.

.PHONY: sanitize/all sanitize/c need/sanitize

sanitize/all: need/tools made/c need/sanitize
	@python3 tests/sanitize/run.py

# The first of them, which needs no nightly compiler.
sanitize/c: need/tools made/c
	@python3 tests/sanitize/run.py c_shipped

# Rust's sanitizers need a nightly compiler, ThreadSanitizer the source of the standard library besides.
need/sanitize:
	@command -v rustup >/dev/null 2>&1 || { \
	    echo "leafid's sanitizers need rustup, which gets a nightly compiler: see rustup.rs" >&2; exit 1; }
	@rustup run nightly rustc --version >/dev/null 2>&1 || rustup toolchain install nightly --profile minimal
	@rustup component list --toolchain nightly | grep -q '^rust-src (installed)' || \
	    rustup component add rust-src --toolchain nightly

# Fuzzing: what comes from outside, as arbitrary bytes, with checks of what must hold (fuzz/fuzz_targets).
#
# With a nightly toolchain under AddressSanitizer, else on the stable one without. The layout is cargo-fuzz's, so that
# `cargo fuzz run TARGET` works too, where that is installed.

.PHONY: fuzz made/fuzz

fuzz: made/fuzz
	@cargo build --quiet -p leafid -p leafid-one-build
	@python3 -B fuzz/seeds.py $(or $(CARGO_TARGET_DIR),target)/debug/leafid
	@SEED=$(SEED) python3 fuzz/run.py $(or $(SECONDS),10) $(OF)

made/fuzz: need/tools fuzz/Cargo.lock
	@python3 fuzz/run.py --build

# The tests that rules.toml and the breaks name are there, and fail when what they test is broken.

.PHONY: check/mutations break-rules mutants

check/mutations: need/tools
	@python3 tests/mutations/named.py

# Each batch of breaks is a build: about an hour on two busy processors. RULES="H13 N6" chooses, and BATCH=threads those
# whose batch begins so. What the tests said is in build/broken.log.
break-rules: need/tools need/system need/server
	@python3 tests/mutations/broken.py $(RULES) $(if $(BATCH),--batch '$(BATCH)')

# Small changes made by cargo-mutants, which is built here where it is missing: all of them in one
# build, tried one by one. About an hour; FILES="core/src/snowflake/span.rs core/src/snowflake/record.rs" tries those of some files, EVERY=10
# each tenth.
EVERY ?= 1
mutants: need/tools
	@python3 tests/mutations/mutants.py --every $(EVERY) $(FILES)

# What frameworks do to ids, the recipes of docs/JAVASCRIPT.md and, of docs/DEPLOYING.md, reloaders and AWS Lambda, with the
# real ones; no database server is needed.
#
#   make test OF=frameworks

.PHONY: test/frameworks
frameworks := build/recipes/frameworks
# It would download a program that migrates, which is not used.
prisma_generate := CHECKPOINT_DISABLE=1 PRISMA_SCHEMA_ENGINE_BINARY=/bin/true npx prisma generate --schema schema.prisma

test/frameworks: need/tools build/wheels/done build/recipes/installed
	@mkdir -p $(frameworks) && cp tests/frameworks/*.mjs tests/frameworks/*.py $(frameworks)/
	@for page in JAVASCRIPT DEPLOYING; do python3 tests/blocks.py docs/$$page.md $(frameworks) || exit 1; done
	@cd $(frameworks) && rm -f prisma.db && $(prisma_generate) >prisma.log 2>&1 || { cat $(frameworks)/prisma.log; exit 1; }
	@build/recipes/venv/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps build/wheels/*.whl
	@cd $(frameworks) && node --test $(node_hang) --test-reporter=spec ids.test.mjs && \
	    LEAFID_ROOT=$(CURDIR) ../venv/bin/python -m unittest test_ids test_reloaders test_lambda

# leafid.sources and leafid.leases of docs/RECIPES.md, and what docs/JAVASCRIPT.md says of servers, run against the real
# servers. As root, what is missing is installed from Debian's packages; otherwise its tests are skipped, and say so.
#
#   make test OF=recipes        two minutes
#   make build OF=recipes   what it and test-frameworks import: C++ is compiled, once, for a minute or two

.PHONY: test/recipes made/recipes
recipes := build/recipes

test/recipes: need/tools build/wheels/done made/node made/recipes
	@PATH=$$PATH:$$(echo /usr/lib/postgresql/*/bin | tr ' ' ':'):/usr/share/zookeeper/bin sh tests/debian.sh \
	    mariadbd:mariadb-server postgres:postgresql pgbouncer:pgbouncer redis-server:redis-server \
	    etcd:etcd-server etcdctl:etcd-client zkServer.sh:zookeeper || \
	    echo "tests that need them are skipped" >&2
	@$(NODE) node/tools/package.mjs build/node here=$(built) $(recipes)/project
	@cp tests/recipes/*.mjs $(recipes)/project/
	@for page in RECIPES JAVASCRIPT; do python3 tests/blocks.py docs/$$page.md $(recipes)/project || exit 1; done
	@$(recipes)/venv/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps build/wheels/*.whl
	@$(recipes)/venv/bin/pytest $(python_pytest) --numprocesses 3 --import-mode=prepend \
	    -rP tests/recipes

made/recipes: need/tools $(recipes)/installed

# What tests import of npm and PyPI, in a project and a venv of their own.
build/%/installed: tests/%/package.json tests/%/requirements.txt
	@mkdir -p build/$* && cp tests/$*/package.json build/$*/
	@cd build/$* && npm install --loglevel=error --no-package-lock --no-audit --no-fund
	$(call python_make_venv,$(python_base),build/$*/venv)
	@build/$*/venv/bin/pip install --quiet --disable-pip-version-check -r tests/$*/requirements.txt
	@touch $@

# leafid's collectors under the real prometheus_client, prom-client and OpenTelemetry, and the files of
# packaging/monitoring under promtool, which root installs. docs/MONITORING.md
#
#   make test OF=monitoring

.PHONY: test/monitoring
monitoring := build/monitoring

test/monitoring: need/tools build/wheels/done made/node $(monitoring)/installed
	@sh tests/debian.sh promtool:prometheus || echo "the tests of alert rules and the dashboard are skipped" >&2
	@$(NODE) node/tools/package.mjs build/node here=$(built) $(monitoring)/project
	@cp tests/monitoring/*.mjs $(monitoring)/project/
	@$(monitoring)/venv/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps build/wheels/*.whl
	@$(monitoring)/venv/bin/pytest $(python_pytest) --import-mode=prepend tests/monitoring
	@cd $(monitoring)/project && $(NODE) --test $(node_hang) --test-reporter=spec prometheus.test.mjs opentelemetry.test.mjs

# examples/service: both services under load, killed, and with their manifests.
#
#   make test OF=service

.PHONY: test/service
service := build/service

test/service: need/tools build/wheels/done made/node $(service)/installed
	@$(service)/venv/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps build/wheels/*.whl
	@$(NODE) node/tools/package.mjs build/node here=$(built) $(service)/project
	@rm -rf $(service)/project/service && cp -R examples/service $(service)/project/service
	@cd $(service)/project && NODE=$(NODE) ../venv/bin/pytest -q -p no:cacheprovider $(CURDIR)/tests/service

# Without leafid, which is the one built here.
$(service)/installed: examples/service/express/package.json examples/service/fastapi/requirements.txt tests/service/requirements.txt
	@mkdir -p $(service)
	@grep -v '"leafid"' examples/service/express/package.json | sed 's/\("express".*\),/\1/' >$(service)/package.json
	@cd $(service) && $(NPM) install --loglevel=error --no-package-lock --no-audit --no-fund
	$(call python_make_venv,$(python_base),$(service)/venv)
	@grep -v '^leafid' examples/service/fastapi/requirements.txt >$(service)/requirements.txt
	@$(service)/venv/bin/pip install --quiet --disable-pip-version-check -r $(service)/requirements.txt \
	    -r tests/service/requirements.txt
	@touch $@
