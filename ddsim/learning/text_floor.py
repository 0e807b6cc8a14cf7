"""The entropy of the text's grammar: the loss that no model gets below, worked out exactly.

Sentences of a topic are independent of each other, and what stands between them is certain, so that
the entropy of a character is that of a sentence over its mean length. The words of a sentence are
told apart by the blanks between them, and names by their three vowels from all other words.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import product
from math import log, prod
from random import Random

from ddsim.learning import text

Chances = Mapping[str, float]
"""How likely each of some texts, or kinds of words, is."""

NAME = "name"


@cache
def text_floor(topics: int = text.TOPICS) -> float:
    """Return the nats a character of the text, for whoever knows its grammar, topic and words."""
    shared, words = text.vocabulary(Random(text.SEED), topics)
    return sum(_of_topic(shared, words, own) for own in words) / topics


def _of_topic(shared: text.Words, words: Sequence[text.Words], own: text.Words) -> float:
    """Entropy of a character of one topic: of each, the text has as many characters."""
    chances = {kind: _mixture([(1.0, found)]) for kind, found in shared.items()}
    for kind, found in own.items():
        borrowed = [(text.BORROWED / len(words), other[kind]) for other in words]
        chances[kind] = _mixture([(1.0 - text.BORROWED, found), *borrowed])
    entropy = length = 0.0
    classes = _classes(chances)
    seen: defaultdict[tuple[str, ...], float] = defaultdict(float)
    for kinds, chance in _expanded("sentence"):
        length += chance * (len(kinds) + 1)  # a blank behind each, or what ends a sentence
        length += chance * sum(_length(chances, kind) for kind in kinds)
        entropy += chance * sum(_within(chances, classes, kind) for kind in kinds)
        for each in product(*(_parts(chances, classes, kind) for kind in kinds)):
            seen[tuple(name for name, _ in each)] += chance * prod(part for _, part in each)
    return (entropy + _entropy(seen.values())) / length


def _expanded(symbol: str) -> list[tuple[tuple[str, ...], float]]:
    """Return the kinds of words that a symbol of the grammar may become, and how likely."""
    if symbol not in text.GRAMMAR:
        return [((symbol,), 1.0)]
    found: list[tuple[tuple[str, ...], float]] = []
    rules = text.GRAMMAR[symbol]
    for rule in rules:
        for parts in product(*map(_expanded, rule.split())):
            kinds = tuple(kind for part, _ in parts for kind in part)
            found.append((kinds, prod(chance for _, chance in parts) / len(rules)))
    return found


def _classes(chances: Mapping[str, Chances]) -> set[str]:
    """Return the words of more than one kind, whose kind only their sentence may tell."""
    count = Counter(word for words in chances.values() for word in words)
    return {word for word, kinds in count.items() if kinds > 1}


def _parts(
    chances: Mapping[str, Chances], ambiguous: set[str], kind: str
) -> list[tuple[str, float]]:
    """Return what is seen of a word of a kind: the kind itself, or a word that may be another's."""
    if kind == NAME:
        return [(kind, 1.0)]
    alone = [(word, chance) for word, chance in chances[kind].items() if word in ambiguous]
    rest = 1.0 - sum(chance for _, chance in alone)
    return [*((f"={word}", chance) for word, chance in alone), (kind, rest)]


def _within(chances: Mapping[str, Chances], ambiguous: set[str], kind: str) -> float:
    """Return the entropy of a word of a kind that is left once that is seen."""
    if kind == NAME:
        return _of_names()
    words = [chance for word, chance in chances[kind].items() if word not in ambiguous]
    rest = sum(words)
    return _entropy(words) + rest * log(rest) if rest > 0.0 else 0.0


def _length(chances: Mapping[str, Chances], kind: str) -> float:
    if kind == NAME:
        parts = (text.ONSETS, text.VOWELS, text.CODAS)
        return text.SYLLABLES[NAME] * sum(sum(map(len, part)) / len(part) for part in parts)
    return sum(chance * len(word) for word, chance in chances[kind].items())


def _of_names() -> float:
    """Entropy of a name: vowels part it, so that what stands between two of them is one piece."""
    between = [coda + onset for coda, onset in product(text.CODAS, text.ONSETS)]
    ends = _of_choice(text.ONSETS) + _of_choice(text.CODAS)
    syllables = text.SYLLABLES[NAME]
    return ends + syllables * _of_choice(text.VOWELS) + (syllables - 1) * _of_choice(between)


def _of_choice(items: Sequence[str]) -> float:
    return _entropy(_mixture([(1.0, items)]).values())


def _mixture(parts: Iterable[tuple[float, Sequence[str]]]) -> dict[str, float]:
    """Return how likely each item is where a list is chosen first, and then one of it evenly."""
    found: defaultdict[str, float] = defaultdict(float)
    for weight, items in parts:
        for item in items:
            found[item] += weight / len(items)
    return dict(found)


def _entropy(chances: Iterable[float]) -> float:
    return -sum(chance * log(chance) for chance in chances if chance > 0.0)
