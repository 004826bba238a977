# What frameworks do to ids, and the recipes of docs/JAVASCRIPT.md, with the real ones; no database server is needed.
#
#   make test-frameworks

.PHONY: test-frameworks
frameworks := build/frameworks

test-frameworks: tools build/wheels/done $(frameworks)/installed
	@cp tests/frameworks/*.mjs tests/frameworks/test_ids.py $(frameworks)/
	@python3 tests/blocks.py docs/JAVASCRIPT.md $(frameworks)
	@$(frameworks)/venv/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps build/wheels/*.whl
	@cd $(frameworks) && node --test --test-reporter=spec ids.test.mjs && venv/bin/python -m unittest test_ids

$(frameworks)/installed: tests/frameworks/package.json tests/frameworks/requirements.txt
	@mkdir -p $(frameworks) && cp tests/frameworks/package.json $(frameworks)/
	@cd $(frameworks) && npm install --loglevel=error --no-package-lock --no-audit --no-fund
	@python3 -m venv $(frameworks)/venv
	@$(frameworks)/venv/bin/pip install --quiet --disable-pip-version-check -r tests/frameworks/requirements.txt
	@touch $@
