# The proof that the core needs neither std nor libc.

.PHONY: test-no-std
test-no-std: tests/no_std/Cargo.lock
	@sh tests/no_std/run.sh
