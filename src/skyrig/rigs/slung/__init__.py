from skyrig.rigs.slung.parameters import SlungParameters, SlungRate, SlungState
from skyrig.rigs.slung.rig import Slung

__all__ = ["Slung", "SlungParameters", "SlungRate", "SlungState"]
