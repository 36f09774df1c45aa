"""What no interval of the package covers, and what the user says about it."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping

from evalci_accessor.exceptions import MethodError

# As docs/explanation/not_covered.md has them.
KNOWN = {
    "label error": "A judge that errs, or a reference answer that is wrong, moves the score itself.",
    "prompt choice": "The score belongs to the prompt, temperature, harness and version that were run.",
    "contamination": "Items seen in training are passed for another reason than new ones will be.",
    "other material": "Clusters are taken as a sample of those that the claim is about.",
    "best of many": "A system, prompt or checkpoint that was picked for its score has too high a score on average.",
    "other clusterings": "Scores that share a thing that was not named as a cluster are taken as independent in it.",
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """An error that the intervals do not cover.

    Parameters
    ----------
    name : str
    why : str
        What it does to a score; empty for one that the user added.
    answer : str or None
        What the user says about it; None if nothing.
    """

    name: str
    why: str
    answer: str | None


def gaps(not_covered: Mapping[str, str] | None) -> tuple[Gap, ...]:
    """The known ones, with the user's answers, and those that the user added."""
    given = {} if not_covered is None else not_covered
    if not isinstance(given, Mapping):
        raise MethodError(
            f"not_covered= must be a dict from an error to what is known about it; got {type(given).__name__}. The errors that "
            f"every report names are {', '.join(map(repr, KNOWN))}; others may be added."
        )
    for name, answer in given.items():
        if not (isinstance(name, str) and name.strip()) or not isinstance(answer, str):
            raise MethodError(
                f"not_covered= must be text throughout, as {{'label error': '2 of 100 checked by hand'}}; got {name!r}: {answer!r}."
            )
        close = difflib.get_close_matches(name.strip().lower(), KNOWN, n=1, cutoff=0.8)
        if name not in KNOWN and close:
            raise MethodError(
                f"not_covered= has {name!r}, which would stand beside {close[0]!r} as another error. Did you mean {close[0]!r}? An "
                "error of your own needs a name that is less like it."
            )
    answers = {name: answer.strip() or None for name, answer in given.items()}
    own = [Gap(name=name, why="", answer=answers[name]) for name in answers if name not in KNOWN]
    return (*(Gap(name=name, why=why, answer=answers.get(name)) for name, why in KNOWN.items()), *own)
