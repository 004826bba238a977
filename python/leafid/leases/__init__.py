"""Leases of worker ids from databases, to give as `leafid.Snowflake(leases)`: the project's docs/RECIPES.md.

Each module has `leases`, and imports its driver when it is called. What it returns has claim, renew and release for
leafid, and also `create_tables(workers=1024)`, to run once, and `check()`, a list of what is wrong with the database.
"""
