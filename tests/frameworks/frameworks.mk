# What frameworks do to ids, and the recipes of docs/JAVASCRIPT.md, with the real ones; no database server is needed.
#
#   make test-frameworks

.PHONY: test-frameworks
frameworks := build/recipes/frameworks

test-frameworks: tools build/wheels/done build/recipes/installed
	@mkdir -p $(frameworks) && cp tests/frameworks/*.mjs tests/frameworks/test_ids.py $(frameworks)/
	@python3 tests/blocks.py docs/JAVASCRIPT.md $(frameworks)
	@build/recipes/venv/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps build/wheels/*.whl
	@cd $(frameworks) && node --test $(node_hang) --test-reporter=spec ids.test.mjs && ../venv/bin/python -m unittest test_ids
