# The recipes of docs/RECIPES.md, run against the real servers. As root, what is missing is installed from Debian's
# packages; otherwise its tests are skipped, and say so.
#
#   make test-recipes        two minutes; it ends by itself after 15
#   make recipes-libraries   what it and test-frameworks import: C++ is compiled, once, for a minute or two

.PHONY: test-recipes recipes-libraries
recipes := build/recipes

test-recipes: tools build/wheels/done node-package recipes-libraries
	@PATH=$$PATH:$$(echo /usr/lib/postgresql/*/bin | tr ' ' ':'):/usr/share/zookeeper/bin sh tests/debian.sh \
	    mariadbd:mariadb-server postgres:postgresql pgbouncer:pgbouncer redis-server:redis-server \
	    etcd:etcd-server etcdctl:etcd-client zkServer.sh:zookeeper || \
	    echo "tests that need them are skipped" >&2
	@$(NODE) node/tools/package.mjs build/node here=$(built) $(recipes)/project
	@cp tests/recipes/*.mjs $(recipes)/project/
	@python3 tests/blocks.py docs/RECIPES.md $(recipes)/project
	@$(recipes)/venv/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps build/wheels/*.whl
	@timeout 900 $(recipes)/venv/bin/pytest $(python_pytest) --numprocesses 3 --import-mode=prepend \
	    -rP tests/recipes

recipes-libraries: $(recipes)/installed

$(recipes)/installed: tests/recipes/package.json tests/recipes/requirements.txt
	@mkdir -p $(recipes) && cp tests/recipes/package.json $(recipes)/
	@cd $(recipes) && npm install --loglevel=error --no-package-lock --no-audit --no-fund
	$(call python_make_venv,$(python_base),$(recipes)/venv)
	@$(recipes)/venv/bin/pip install --quiet --disable-pip-version-check -r tests/recipes/requirements.txt
	@touch $@
