# The tests that rules.toml and the breaks name are there, and fail when what they test is broken.

.PHONY: check-mutations break-rules mutants

check-mutations: tools
	@python3 tests/mutations/named.py

# Each batch of breaks is a build: about an hour on two busy processors. RULES="H13 N6" chooses, and BATCH=threads those
# whose batch begins so. What the tests said is in build/broken.log.
break-rules: tools system-tools
	@python3 tests/mutations/broken.py $(RULES) $(if $(BATCH),--batch '$(BATCH)')

# Small changes that nobody thought of, by cargo-mutants, which is built here where it is missing: all of them in one
# build, tried one by one. About an hour; FILES="core/src/snowflake/span.rs core/src/snowflake/record.rs" tries those of some files, EVERY=10
# each tenth.
EVERY ?= 1
mutants: tools
	@python3 tests/mutations/mutants.py --every $(EVERY) $(FILES)
