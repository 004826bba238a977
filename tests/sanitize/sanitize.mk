# The C tests with AddressSanitizer and UndefinedBehaviorSanitizer, with the library as it ships, and all that has threads
# with ThreadSanitizer. What is missing is named, and is a failure.

.PHONY: sanitize sanitize-c sanitize-tools

sanitize: tools c-lib sanitize-tools
	@python3 tests/sanitize/run.py

# The first of them, which needs no nightly compiler.
sanitize-c: tools c-lib
	@python3 tests/sanitize/run.py c_shipped

# Rust's sanitizers need a nightly compiler, ThreadSanitizer the source of the standard library besides.
sanitize-tools:
	@command -v rustup >/dev/null 2>&1 || { \
	    echo "leafid's sanitizers need rustup, which gets a nightly compiler: see rustup.rs" >&2; exit 1; }
	@rustup run nightly rustc --version >/dev/null 2>&1 || rustup toolchain install nightly --profile minimal
	@rustup component list --toolchain nightly | grep -q '^rust-src (installed)' || \
	    rustup component add rust-src --toolchain nightly
