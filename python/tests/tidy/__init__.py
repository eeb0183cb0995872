"""Checks of the source text itself, used by `test_tidy.py`."""
