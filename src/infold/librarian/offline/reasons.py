"""Why a paragraph goes to a note, in words: what the two share, where it goes, which note came next; or why to none.

Said from the evidence that decided, never from anything else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from infold.librarian.offline.candidate_scorer import NoteMatch
from infold.librarian.offline.corpus import Corpus
from infold.librarian.offline.reading import NoteFeatures, NoteSection, Query
from infold.search.languages import is_stop_word
from infold.search.terms import terms
from infold.text import without_runs, words

_MOST_WORDS: Final = 4
_TELLING: Final = 0.4  # of the weight of the word that tells most
_LEAST_LETTERS: Final = 3
_NEAR: Final = 0.01  # a chance that is worth a word


def why(query: Query, reading: NoteFeatures, section: NoteSection, ranked: Sequence[NoteMatch], corpus: Corpus) -> str:
    """The words that both have, those that tell most first; the heading; the chances of this note and of the next."""
    shared = _shared_words(query, reading, corpus)
    said = [f"it shares {', '.join(shared)}" if shared else "it is near in meaning"]
    if section.trail:
        said.append(f"under {section.trail[-1]}")
    chances = {match.path: match.chance for match in ranked}
    if reading.path in chances:
        said.append(f"{chances[reading.path]:.0%} for this note")
    runner_up = next((match for match in ranked if match.path != reading.path), None)
    if runner_up is None or runner_up.chance < _NEAR:
        said.append("no other is near")
    else:
        said.append(f"next {runner_up.path} with {runner_up.chance:.0%}")
    return "; ".join(said)


def why_none(rankings: Sequence[Sequence[NoteMatch]], least_chance: float) -> str | None:
    """The likeliest note that speaks of one of these paragraphs, where all that do are too unlikely; else None."""
    matches = [match for ranked in rankings for match in ranked if match.is_related]
    if not matches or any(match.is_likely for match in matches):
        return None
    best = max(matches, key=lambda match: match.chance)
    chance = math.floor(100 * best.chance)  # rounded up it could stand beside the same figure as "below" it
    return (
        f"the likeliest note that speaks of this text is {best.path} with {chance}%, "
        f"below editing.min_confidence ({100 * least_chance:g}%)"
    )


def _shared_words(query: Query, reading: NoteFeatures, corpus: Corpus) -> list[str]:
    """As the paragraph writes them, one a term; none that tells little, by itself or beside the others."""
    query = query.read_in(reading.language)
    found: dict[str, str] = {}
    for word in words(without_runs(query.text)):
        if is_stop_word(word.casefold()):  # in a small vault it is as rare as any
            continue
        for term in terms(word, query.language):
            if term in query.terms and term in reading.terms and (len(word) >= _LEAST_LETTERS or not word.isascii()):
                found.setdefault(term, word)
    least = _TELLING * max(map(corpus.weight, found), default=0.0)
    telling = sorted(
        (term for term in found if corpus.weight(term) >= least), key=lambda term: (-corpus.weight(term), term)
    )
    return list(dict.fromkeys(found[term] for term in telling))[:_MOST_WORDS]
