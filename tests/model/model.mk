# Every order of a few events and faults, with leafid's own core: the bounds are in tests/model/src/bounds.rs, the number of
# states is printed. About ten minutes; BOUNDS=small takes three.

.PHONY: model
model: tools
	@cargo test --profile model --quiet -p leafid-model --test models -- --test-threads 1 --show-output
