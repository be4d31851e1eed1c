"""Made-up words, names and moments, drawn from one seeded generator: same seed, same text."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random


def _listed(words: str, separator: str | None = None) -> list[str]:
    return [" ".join(word.split()) for word in words.split(separator)]


_NOUNS = _listed("""
    orchard kettle ledger harbour lantern bicycle recipe parcel timetable notebook greenhouse compass drawer ladder
    postcard cupboard bridge tram whistle basket canoe museum bakery umbrella violin garden mosaic signal invoice
    tariff route platform voucher label shelf counter pattern module importer parser scheduler queue cache adapter
    endpoint migration fixture snapshot branch commit review release checklist
""")
_VERBS = _listed("""
    moves keeps returns skips counts sorts merges renames splits checks retries rejects stores prints compares
    measures rounds closes reopens loads replaces explains delays opens drops
""")
_LINKS = _listed("the a this every another one that")
_TAILS = _listed(
    """before the first run|after lunch|when the list is empty|only on Tuesdays|without a second look|in the
    nightly job|for each parcel|because the label is old|twice by mistake|under load|as the test says""",
    "|",
)
_ELSEWHERE = (
    "Die Prüfung läuft grün; das Öl bleibt kühl.",
    "La décision est notée, et l'étape suivante aussi.",
    "日程表の並び順を直しました。テストは通ります。",
    "Список пуст, но порядок строк сохранён.",
    "Done 🚲 → next: the “kettle” case, 3 of 5 ✓",
)
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_SENTENCES = 2_000
_OUTPUT_LINES = 4_000


class Prose:
    """Sentences and tool output. Both are cut from pools made once, so that gigabytes cost little."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self.sentences = [self._new_sentence() for _ in range(_SENTENCES)]
        self._output = "\n".join(self._new_output_line(number) for number in range(_OUTPUT_LINES))
        self._noise = "".join(rng.choices(_LETTERS, k=20_000))

    def text(self, characters: int) -> str:
        """About that many characters of prose; one sentence in a hundred is not English."""
        parts, length = [], 0
        while length < characters:
            pool = _ELSEWHERE if self._rng.random() < 0.01 else self.sentences
            parts.append(self._rng.choice(pool))
            length += len(parts[-1]) + 1
        return " ".join(parts)

    def said(self, median: int, *, longest: int) -> str:
        """Something a person or an agent says: mostly short, with a long tail, now and then with code."""
        characters = skewed(self._rng, median, spread=1.0, largest=longest)
        text = self.text(max(12, characters))
        if characters > 700 and self._rng.random() < 0.5:
            text += f"\n\n```sh\n{self.output(200)}\n```\n"
        return text

    def output(self, characters: int) -> str:
        """What a tool printed."""
        start = self._rng.randrange(len(self._output))
        text = self._output[start : start + characters]
        while len(text) < characters:
            text += self._output[: characters - len(text)]
        return text

    def noise(self, characters: int) -> str:
        """What looks like a signature or encrypted reasoning; need not be unique."""
        start = self._rng.randrange(len(self._noise) - characters)
        return self._noise[start : start + characters]

    def word(self) -> str:
        """One word, for names of files and commands."""
        return self._rng.choice(_NOUNS)

    def _new_sentence(self) -> str:
        pick = self._rng.choice
        words = [pick(_LINKS), pick(_NOUNS), pick(_VERBS), pick(_LINKS), pick(_NOUNS), pick(_TAILS)]
        if self._rng.random() < 0.4:
            words += ["and", pick(_VERBS), pick(_LINKS), pick(_NOUNS)]
        return " ".join(words).capitalize() + pick(("." * 5) + "?!:")

    def _new_output_line(self, number: int) -> str:
        pick, kind = self._rng.choice, number % 4
        if kind == 0:
            return f"{number:6d}\tdef {pick(_VERBS)}_{pick(_NOUNS)}({pick(_NOUNS)}: str) -> None:"
        if kind == 1:
            return f"tests/test_{pick(_NOUNS)}.py::test_{pick(_VERBS)} PASSED"
        if kind == 2:
            return f'src/{pick(_NOUNS)}.py:{number}: "{pick(self.sentences)}"'
        return f"    {pick(self.sentences)}"


class Names:
    """Identifiers in the shapes agents use."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def uuid(self) -> str:
        """A random one (version 4)."""
        return _dashed(f"{self._rng.getrandbits(128):032x}", version="4")

    def uuid_of(self, milliseconds: int) -> str:
        """One that begins with a moment (version 7), so that it sorts by it."""
        return _dashed(f"{milliseconds:012x}{self._rng.getrandbits(80):020x}", version="7")

    def tag(self, prefix: str, characters: int = 24) -> str:
        """`prefix` and that many hex digits."""
        return f"{prefix}{self._rng.getrandbits(4 * characters):0{characters}x}"


def skewed(rng: Random, median: int, *, spread: float, largest: int) -> int:
    """A size from a log-normal distribution; 0 when the median is."""
    if median <= 0:
        return 0
    return min(largest, int(rng.lognormvariate(math.log(median), spread)))


def stamp(milliseconds: int) -> str:
    """RFC 3339 UTC, milliseconds, Z, from milliseconds since 1970."""
    moment = datetime.fromtimestamp(milliseconds // 1000, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03d}Z"


def _dashed(digits: str, *, version: str) -> str:
    return f"{digits[:8]}-{digits[8:12]}-{version}{digits[13:16]}-8{digits[17:20]}-{digits[20:]}"
