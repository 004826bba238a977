# Every interleaving of a few threads over the lock-free parts. Some minutes; BOUNDS=small takes one.
# What has locks and threads is tests/shuttle's.

.PHONY: loom
loom: tools tests/loom/Cargo.lock
	@cargo test --release --quiet -j2 --manifest-path tests/loom/Cargo.toml --target-dir build/loom-target \
	    --test models -- --show-output
