# Other kinds of Linux, built and tested on x86-64.
#
#   make cross                  glibc 2.17, musl, and aarch64 under qemu-user
#   make cross TARGETS=musl     or glibc, or aarch64

.PHONY: cross
cross: tools
	@python3 tests/cross/linux.py $(TARGETS)
