"""`Samples` (which items belong to which sample), and the protocols that draw samples from a labelled pool."""

from headcount.protocols.artificial import ArtificialPrevalence
from headcount.protocols.base import Protocol
from headcount.protocols.default import default_protocol
from headcount.protocols.dirichlet import DirichletPrevalence
from headcount.protocols.domains import DomainMixture
from headcount.protocols.natural import NaturalPrevalence
from headcount.protocols.ordered import OrdinalShift, SmoothPrevalence, jaggedness
from headcount.protocols.ready_made import ReadyMadeSamples
from headcount.protocols.samples import Samples, as_samples
from headcount.protocols.several import SeveralProtocols
from headcount.protocols.uniform import UniformPrevalence

__all__ = [
    "ArtificialPrevalence",
    "DirichletPrevalence",
    "DomainMixture",
    "NaturalPrevalence",
    "OrdinalShift",
    "Protocol",
    "ReadyMadeSamples",
    "Samples",
    "SeveralProtocols",
    "SmoothPrevalence",
    "UniformPrevalence",
    "as_samples",
    "default_protocol",
    "jaggedness",
]
