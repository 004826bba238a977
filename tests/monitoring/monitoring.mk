# leafid's collectors under the real prometheus_client, prom-client and OpenTelemetry, and the files of
# packaging/monitoring under promtool, which root installs. docs/MONITORING.md
#
#   make test-monitoring

.PHONY: test-monitoring
monitoring := build/monitoring

test-monitoring: tools build/wheels/done node-package $(monitoring)/installed
	@sh tests/debian.sh promtool:prometheus || echo "the tests of alert rules and the dashboard are skipped" >&2
	@$(NODE) node/tools/package.mjs build/node here=$(built) $(monitoring)/project
	@cp tests/monitoring/*.mjs $(monitoring)/project/
	@$(monitoring)/venv/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps build/wheels/*.whl
	@$(monitoring)/venv/bin/pytest $(python_pytest) --import-mode=prepend tests/monitoring
	@cd $(monitoring)/project && $(NODE) --test $(node_hang) --test-reporter=spec prometheus.test.mjs opentelemetry.test.mjs

$(monitoring)/installed: tests/monitoring/package.json tests/monitoring/requirements.txt
	@mkdir -p $(monitoring) && cp tests/monitoring/package.json $(monitoring)/
	@cd $(monitoring) && npm install --loglevel=error --no-package-lock --no-audit --no-fund
	$(call python_make_venv,$(python_base),$(monitoring)/venv)
	@$(monitoring)/venv/bin/pip install --quiet --disable-pip-version-check -r tests/monitoring/requirements.txt
	@touch $@
