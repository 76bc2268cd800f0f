"""Scenarios: YAML in, checked objects out. Free of JAX until `Scenario.build`."""

from skyrig.scenario.scenario import DEFAULT, Scenario, bundled_text, load, names
from skyrig.scenario.schema import schema
from skyrig.scenario.spec import Spec

__all__ = ["DEFAULT", "Scenario", "Spec", "bundled_text", "load", "names", "schema"]
