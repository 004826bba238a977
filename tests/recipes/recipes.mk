# The recipes of docs/RECIPES.md, run against the real servers. As root, what is missing is installed from Debian's
# packages; otherwise its tests are skipped, and say so. By hand and before a release: not in .ci/run, for its time.
#
#   make test-recipes    four minutes; it ends by itself after 15

.PHONY: test-recipes
recipes := build/recipes

test-recipes: tools build/wheels/done node-package $(recipes)/installed
	@PATH=$$PATH:$$(echo /usr/lib/postgresql/*/bin | tr ' ' ':'):/usr/share/zookeeper/bin sh tests/debian.sh \
	    mariadbd:mariadb-server postgres:postgresql redis-server:redis-server \
	    etcd:etcd-server etcdctl:etcd-client zkServer.sh:zookeeper || \
	    echo "tests that need them are skipped" >&2
	@$(NODE) node/tools/package.mjs build/node here=$(node_built) $(recipes)/project
	@python3 tests/blocks.py docs/RECIPES.md $(recipes)/project
	@$(recipes)/venv/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps build/wheels/*.whl
	@timeout 900 $(recipes)/venv/bin/pytest $(python_pytest) --import-mode=prepend -rP tests/recipes

$(recipes)/installed: tests/recipes/package.json tests/recipes/requirements.txt
	@mkdir -p $(recipes) && cp tests/recipes/package.json $(recipes)/
	@cd $(recipes) && npm install --loglevel=error --no-package-lock --no-audit --no-fund
	$(call python_make_venv,$(python_base),$(recipes)/venv)
	@$(recipes)/venv/bin/pip install --quiet --disable-pip-version-check -r tests/recipes/requirements.txt
	@touch $@
