# The C library of the core alone, staged in build/c-core. Targets: c-core, test-c-core.

C_CORE_TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)

.PHONY: c-core test-c-core

c-core:
	@echo "== building leafid_core for C"
	@cargo rustc --profile c-core --quiet --package leafid-core-c --lib --crate-type staticlib
	@sh bindings/c_core/stage.sh $(C_CORE_TARGET_DIR)/c-core/libleafid_core_c.a build/c-core

test-c-core: c-core
	@python3 tests/c_core/run.py build/c-core build/c-core-tests
