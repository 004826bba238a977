# Programs for other systems, tested as far as this machine runs them; slower kinds of .ci/run.
#
#   make cross-windows   the core, the host, the C library and the command line for Windows, under wine
#   make cross-windows-bindings  Node's addon and tests under wine, the wheel; all of it for aarch64, linked; TARGETS=x86_64 limits
#   make cross-macos     everything for macOS, compiled and linked; TARGETS=arm64 or x86_64 limits

.PHONY: cross-windows cross-windows-bindings cross-windows-tools cross-macos

# Those of the host's tests that fork nothing, look at no file of Linux and start no server of Python.
windows_tests := cli earlier_files exclusive generate options range_waits segment_refusals segments tag_turns
# Of these: what has paths of Linux; that a program starts within a short span; names of holders, which only the locks of
# Linux tell; a server of Python.
windows_skips := simulation:: the_runs_that_end_alike_in_all_forms \
    a_reset_is_refused_while_held_and_burns_what_lies_ahead \
    a_second_process_is_refused_at_once_naming_the_holder the_same_settings_share_one_generator \
    tinyid_says_which_of_its_causes_an_empty_answer_has \
    a_tag_of_blocks_is_refused_by_all_but_a_leaf_unless_its_numbers_are_ids

cross-windows: cross-windows-tools
	@[ -e build/cross/windows-tools ] || exit 0; \
	export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER="python3 $(CURDIR)/tests/cross/wine.py"; \
	cargo test --quiet --target x86_64-pc-windows-gnu -p leafid-core -p leafid-one-build --lib --tests && \
	cargo test --quiet --target x86_64-pc-windows-gnu -p leafid -p leafid-one-build --lib $(windows_tests:%=--test=%) -- $(windows_skips:%=--skip %) && \
	cargo build --quiet --target x86_64-pc-windows-gnu -p leafid -p leafid-one-build --bin leafid && \
	python3 tests/cross/windows.py $(or $(CARGO_TARGET_DIR),target)/x86_64-pc-windows-gnu/debug/leafid.exe && \
	python3 tests/cross/windows_c.py

cross-windows-bindings: cross-windows-tools build/venv-packaging/done build/LICENSE-THIRD-PARTY
	@[ -e build/cross/windows-tools ] || exit 0; \
	rustup component add llvm-tools >>build/rustup.log 2>&1 || { echo "cross-windows-bindings: skipped: no llvm-tools (rustup component add llvm-tools)" >&2; exit 0; }; \
	python3 tests/cross/windows_bindings.py $(TARGETS)

# As root, what is missing is installed from Debian's packages.
cross-windows-tools: tools
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

cross-macos: tools build/venv-packaging/done
	@if ! command -v rustup >/dev/null || \
	    ! rustup target add aarch64-apple-darwin x86_64-apple-darwin >build/rustup.log 2>&1 || \
	    ! rustup component add llvm-tools clippy >>build/rustup.log 2>&1; then \
	    echo "cross-macos: skipped: no Rust for it (rustup target add aarch64-apple-darwin x86_64-apple-darwin; rustup component add llvm-tools)" >&2; \
	else \
	    python3 tests/cross/macos.py $(TARGETS); \
	fi
