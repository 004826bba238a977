# Fuzzing: what comes from outside, as arbitrary bytes, with checks of what must hold (fuzz/fuzz_targets).
#
# With a nightly toolchain under AddressSanitizer, else on the stable one without. The layout is cargo-fuzz's, so that
# `cargo fuzz run TARGET` works too, where that is installed.

.PHONY: fuzz fuzz-programs

fuzz: fuzz-programs
	@cargo build --quiet -p leafid -p leafid-one-build
	@python3 -B fuzz/seeds.py $(or $(CARGO_TARGET_DIR),target)/debug/leafid
	@SEED=$(SEED) python3 fuzz/run.py $(or $(SECONDS),10) $(TARGETS)

fuzz-programs: tools fuzz/Cargo.lock
	@python3 fuzz/run.py --build
