from skyrig.rigs.slung.parameters import SlungMode, SlungMotion, SlungParameters, SlungState
from skyrig.rigs.slung.rig import Slung

__all__ = ["Slung", "SlungMode", "SlungMotion", "SlungParameters", "SlungState"]
