"""What was said of which candidates, as laws of the evidence rule are written."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from memory.rules.evidence.posterior import EvidenceConfig, Posterior, posterior
from memory.rules.evidence.voices import NoisyVerdict, Voice

if TYPE_CHECKING:
    from memory.rules.evidence.posterior import Matrix


class Said(NamedTuple):
    """One observation, and the columns that it approves or refuses."""

    candidates: tuple[int, ...]
    approves: bool
    noise: float
    voices: tuple[Voice, ...] = ()
    reliability: float = 1.0

    @property
    def observation(self) -> NoisyVerdict:
        return NoisyVerdict(self.approves, self.noise, self.voices, self.reliability)


def believed(said: Sequence[Said], cosines: "Matrix", prior: "Matrix", config: EvidenceConfig) -> Posterior:
    """As `posterior`."""
    observations, judged = [each.observation for each in said], [each.candidates for each in said]
    return posterior(cosines, observations, judged, prior, config)
