# The whole system under simulation, seed after seed: `make simulate SECONDS=600`. A run that went wrong prints how to see
# it again: `make simulate SEED=… TURNS=…`. `make test` plays some fixed seeds of it. The build is that of the tests: it
# is fast enough, and overflows and assertions are checked in it. For the packages that are tested beside it the dependencies
# are the same.

simulate_of := -p leafid-core -p leafid -p leafid-c -p leafid-core-c --lib
simulate_seconds = $(or $(SECONDS),60)

.PHONY: simulate
simulate: tools
	@cargo test --quiet $(simulate_of) --no-run
	@LEAFID_SIMULATE_SECONDS=$(simulate_seconds) LEAFID_SIMULATE_SEED=$(SEED) LEAFID_SIMULATE_TURNS=$(TURNS) \
	    timeout $$(($(simulate_seconds) + 300)) cargo test --quiet $(simulate_of) -- \
	    --ignored --exact simulation::cluster::report::simulate --nocapture
