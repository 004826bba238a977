# The tests that docs/RELIABILITY.md names are there, and fail when what they test is broken.

.PHONY: check-reliability break-rules mutants

check-reliability: tools
	@python3 tests/reliability/named.py

# Each batch of breaks is a build: about an hour on two busy processors. RULES="H13 N6" chooses. What the tests said is
# in build/broken.log.
break-rules: tools hostile-tools
	@python3 tests/reliability/broken.py $(RULES)

# Small changes that nobody thought of, one by one, by cargo-mutants, which is built here where it is missing. Each is a
# build: some hours for all; FILES="core/src/span.rs core/src/record.rs" tries those of some files.
mutants: tools
	@python3 tests/reliability/mutants.py $(FILES)
