"""The studio: a rig in the browser, live or recorded. `skyrig studio` serves it."""
