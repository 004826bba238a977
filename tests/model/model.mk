# Every order of a few events and faults, with leafid's own core: the bounds are in tests/model/src/bounds.rs, the number of
# states is printed. About ten minutes; BOUNDS=small takes one.

.PHONY: model
model: tools
	@cargo test --release --quiet --manifest-path tests/model/Cargo.toml --target-dir build/model-target \
	    --test models -- --test-threads 1 --show-output
