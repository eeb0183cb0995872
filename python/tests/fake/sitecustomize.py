"""Gives a child process of the tests the fake engine instead of the real one."""

import sys

import fake_native

sys.modules["xoff._native"] = fake_native
