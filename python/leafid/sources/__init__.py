"""Ranges of ids from databases, to give as `leafid.Segments(fetch=…)`: the project's docs/RECIPES.md.

Each module has `source`, and imports its driver when it is called. What it returns is called by leafid, and also has
`create_tables(tags=["order"])`, to run once, and `check()`, a list of what is wrong with the database.
"""
