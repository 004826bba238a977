# The proof that the core needs neither std nor libc.

.PHONY: test-no-std
test-no-std:
	@sh tests/no_std/run.sh
