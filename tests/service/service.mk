# examples/service: both services under load, killed, and with their manifests.
#
#   make test-service

.PHONY: test-service
service := build/service

test-service: tools build/wheels/done node-package $(service)/installed
	@$(service)/venv/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps build/wheels/*.whl
	@$(NODE) node/tools/package.mjs build/node here=$(built) $(service)/project
	@rm -rf $(service)/project/service && cp -R examples/service $(service)/project/service
	@cd $(service)/project && NODE=$(NODE) ../venv/bin/pytest -q -p no:cacheprovider $(CURDIR)/tests/service

# Without leafid, which is the one built here.
$(service)/installed: examples/service/express/package.json examples/service/fastapi/requirements.txt tests/service/requirements.txt
	@mkdir -p $(service)
	@grep -v '"leafid"' examples/service/express/package.json | sed 's/\("express".*\),/\1/' >$(service)/package.json
	@cd $(service) && $(NPM) install --loglevel=error --no-package-lock --no-audit --no-fund
	$(call python_make_venv,$(python_base),$(service)/venv)
	@grep -v '^leafid' examples/service/fastapi/requirements.txt >$(service)/requirements.txt
	@$(service)/venv/bin/pip install --quiet --disable-pip-version-check -r $(service)/requirements.txt \
	    -r tests/service/requirements.txt
	@touch $@
