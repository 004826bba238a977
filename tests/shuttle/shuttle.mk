# The threads of segments, many orders of their steps, each drawn by a seed. About a
# minute; TIMES=10 tries ten times as many, SEED=7 MODEL=threads_share_a_tag replays one.

.PHONY: shuttle
shuttle: tools tests/shuttle/Cargo.lock
	@cargo test --release --quiet -j2 --manifest-path tests/shuttle/Cargo.toml --target-dir build/shuttle-target \
	    --test models -- --test-threads 2 --show-output $(if $(MODEL),--exact $(MODEL))
