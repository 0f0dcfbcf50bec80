"""Short texts put together from phrases, as people write them: some are off the subject, some have a slip of the finger."""

from collections.abc import Mapping, Sequence
from random import Random

__all__ = ["Writer"]


class Writer:
    """Draws texts.

    Parameters
    ----------
    generator : random.Random
    slots : mapping of str to sequence of str
        What the names in braces of a phrase stand for.
    slip : float
        Share of texts with two letters swapped.
    """

    def __init__(self, generator: Random, slots: Mapping[str, Sequence[str]], slip: float = 0.2) -> None:
        self._generator, self._slots, self._slip = generator, slots, slip

    def one(self, phrases: Sequence[str]) -> str:
        """Return one of some phrases, its slots filled."""
        phrase = self._generator.choice(phrases)
        fillers = {name: self.one(values) for name, values in self._slots.items() if "{" + name + "}" in phrase}
        return phrase.format(**fillers) if fillers else phrase

    def several(
        self, subject: Sequence[str], others: Sequence[Sequence[str]], shares: Sequence[float], n: int
    ) -> list[str]:
        """Return phrases in any order, each only once: one about the subject, and more of other kinds, drawn in these shares."""
        drawn = [self.one(subject), *(self.one(kind) for kind in self._generator.choices(others, shares, k=n - 1))]
        self._generator.shuffle(drawn)
        return list(dict.fromkeys(drawn))

    def with_slips(self, text: str) -> str:
        """Return the text, of some with two neighbouring letters swapped."""
        if self._generator.random() >= self._slip or len(text) < 8:
            return text
        at = self._generator.randrange(1, len(text) - 2)
        if not text[at : at + 2].isalpha():
            return text
        return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
