from skyrig.rigs.elastic.material import Material, restitution
from skyrig.rigs.elastic.parameters import ElasticMode, ElasticMotion, ElasticParameters, ElasticState
from skyrig.rigs.elastic.rig import Elastic

__all__ = [
    "Elastic",
    "ElasticMode",
    "ElasticMotion",
    "ElasticParameters",
    "ElasticState",
    "Material",
    "restitution",
]
