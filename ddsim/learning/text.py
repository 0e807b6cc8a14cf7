"""A text to learn from: sentences of a small made-up language, always the same ones.

A grammar says which kinds of words follow each other, and every document keeps to the words of its
topic. Words are made of syllables once, names anew each time, so that the text has an entropy that
no model gets below. Only `random.Random.random` is drawn from,
which Python keeps the same across versions.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from random import Random
from typing import TypeVar

T = TypeVar("T")
Words = dict[str, list[str]]

ALPHABET = "abcdefghijklmnopqrstuvwxyz .\n"
ONSETS = [*"bdfghklmnprstvz", "br", "st", "tr", "pl"]
VOWELS = [*"aeiou", "ai", "ou"]
CODAS = ["", "", "", "n", "r", "s", "l", "m"]
GRAMMAR = {
    "sentence": ["noun_phrase verb_phrase", "place noun_phrase verb_phrase"],
    "noun_phrase": ["article noun", "article adjective noun", "name", "noun of name"],
    "verb_phrase": ["verb noun_phrase", "verb place", "verb noun_phrase place", "verb"],
    "place": ["preposition article noun", "preposition name"],
}
SYLLABLES = {"noun": 2, "adjective": 2, "verb": 2, "name": 3}  # of the others one
_WORDS = {"noun": 6, "adjective": 3, "verb": 4}  # of each topic
_SHARED = {"preposition": 6, "article": 3, "of": 1}
TOPICS = 8
BORROWED = 0.125
SEED = 20260401


def _one(random: Random, items: Sequence[T]) -> T:
    return items[int(random.random() * len(items))]


def _word(random: Random, syllables: int) -> str:
    parts = (ONSETS, VOWELS, CODAS) * syllables
    return "".join(_one(random, part) for part in parts)


def _expand(random: Random, symbol: str) -> list[str]:
    """Return the kinds of words of a symbol of the grammar."""
    if symbol not in GRAMMAR:
        return [symbol]
    parts = _one(random, GRAMMAR[symbol]).split()
    return [kind for part in parts for kind in _expand(random, part)]


def vocabulary(random: Random, topics: int) -> tuple[Words, list[Words]]:
    """Draw the words that all topics share, and those of each topic, by their kinds."""
    shared = {kind: [_word(random, 1) for _ in range(count)] for kind, count in _SHARED.items()}
    words = [
        {
            kind: [_word(random, SYLLABLES[kind]) for _ in range(count)]
            for kind, count in _WORDS.items()
        }
        for _ in range(topics)
    ]
    return shared, words


@cache
def documents(topics: int = TOPICS, size: int = 300_000, sentences: int = 12) -> tuple[str, ...]:
    """Return documents, topic after topic, of about `size` characters together.

    Each is of `sentences` sentences in the words of its topic, one in eight words borrowed from
    another topic. They are the same for the same numbers.
    """
    random = Random(SEED)
    shared, words = vocabulary(random, topics)
    made: list[str] = []
    for topic in range(topics):
        length = 0
        while length < size / topics:
            lines = []
            for _ in range(sentences):
                line = []
                for kind in _expand(random, "sentence"):
                    borrowed = random.random() < BORROWED
                    own = _one(random, words) if borrowed else words[topic]
                    if kind == "name":
                        line.append(_word(random, SYLLABLES[kind]))
                    else:
                        line.append(_one(random, shared.get(kind) or own[kind]))
                lines.append(" ".join(line))
            made.append(". ".join(lines) + ".\n")
            length += len(made[-1])
    return tuple(made)
