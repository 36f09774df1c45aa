"""Small made data for the docs and the tests. Nothing here is a real model's result."""

from __future__ import annotations

import numpy as np
import pandas as pd
import xarray as xr

__all__ = ["load_code_eval", "load_code_eval_cube", "load_rag_eval", "load_rag_eval_cube"]

_DOCUMENTS, _QUESTIONS, _TEMPLATES, _TURNS = 40, 5, 8, 4
_SEED = 7
# Passes of 200, and how strongly a document decides about its questions.
_MODELS = {"atlas": (139, 1.1), "boreal": (151, 0.75), "cascade": (124, 0.85)}


def load_rag_eval() -> pd.DataFrame:
    """Made results of three models on 40 documents with 5 questions each.

    Returns
    -------
    DataFrame, shape (600, 7)
        ``model``; ``item`` (0-199, the same for all models); ``doc_id``, the document that a question is about;
        ``conversation_id``, the chat in which it was asked (4 turns each, across documents); ``template_id``, which of 8
        phrasings it uses; ``score``, 1 for a right answer and 0 else; ``latency_s``, seconds.

    Notes
    -----
    Made with a fixed seed, and made so that the first model's scores have an ANOVA intracluster correlation of about .30
    over the documents: the textbook figures then are Deff 2.2, n_eff 91 of 200, and an interval 1.48 times wider.

    Examples
    --------
    >>> from evalci_accessor import datasets
    >>> datasets.load_rag_eval().groupby("model", sort=False)["score"].mean().round(3).to_dict()
    {'atlas': 0.695, 'boreal': 0.755, 'cascade': 0.62}
    """
    rng = np.random.default_rng(_SEED)
    items = _DOCUMENTS * _QUESTIONS
    document = np.repeat(np.arange(_DOCUMENTS), _QUESTIONS)
    conversation = rng.permutation(np.arange(items) // _TURNS)
    template = rng.permutation(np.arange(items) % _TEMPLATES)
    hard_document = rng.normal(size=_DOCUMENTS)
    hard_template = rng.normal(scale=0.25, size=_TEMPLATES)
    frames = []
    for model, (passes, grip) in _MODELS.items():
        own = 0.8 * hard_document + 0.6 * rng.normal(size=_DOCUMENTS)
        ease = grip * own[document] + hard_template[template] + rng.normal(size=items)
        score = (ease.argsort().argsort() >= items - passes).astype(np.int64)
        frames.append(
            pd.DataFrame(
                {
                    "model": model,
                    "item": np.arange(items),
                    "doc_id": [f"doc-{d:02d}" for d in document],
                    "conversation_id": [f"chat-{c:02d}" for c in conversation],
                    "template_id": [f"template-{t}" for t in template],
                    "score": score,
                    "latency_s": rng.gamma(4.0, 0.35, size=items).round(2),
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def load_rag_eval_cube() -> xr.Dataset:
    """The same made results as a cube.

    Returns
    -------
    Dataset
        ``score`` and ``latency_s`` over ``model`` (3) and ``item`` (200), with the coordinates ``doc_id``,
        ``conversation_id`` and ``template_id`` along ``item``.

    Examples
    --------
    >>> from evalci_accessor import datasets
    >>> dict(datasets.load_rag_eval_cube().sizes)
    {'model': 3, 'item': 200}
    """
    frame = load_rag_eval()
    first = frame[frame["model"] == frame["model"].iloc[0]]
    shape = (len(_MODELS), len(first))
    ids = ("doc_id", "conversation_id", "template_id")
    return xr.Dataset(
        {
            name: (("model", "item"), frame[name].to_numpy(copy=True).reshape(shape))
            for name in ("score", "latency_s")
        },
        coords={
            "model": list(_MODELS),
            "item": first["item"].to_numpy(),
            **{name: ("item", first[name].to_numpy(dtype=object).astype(str)) for name in ids},
        },
    )


_REPOS, _TASKS, _SAMPLES, _TESTS = 20, 4, 10, 12


def load_code_eval() -> pd.DataFrame:
    """Made results of two models that wrote ten programs for each of 80 tasks from 20 repositories.

    Returns
    -------
    DataFrame, shape (1600, 6)
        ``model``; ``item`` (0-79, the same for both), the task; ``repo_id``, the repository that it is from; ``sample`` (0-9);
        ``score``, 1 if all tests pass and 0 else; ``tests_passed``, the share of the 12 tests that pass.

    Notes
    -----
    Made with a fixed seed: tasks differ more than models do, and those of a repository are alike.

    Examples
    --------
    >>> from evalci_accessor import datasets
    >>> datasets.load_code_eval().groupby("model", sort=False)["score"].mean().round(3).to_dict()
    {'atlas': 0.26, 'boreal': 0.371}
    """
    rng = np.random.default_rng(_SEED)
    tasks = _REPOS * _TASKS
    repo = np.repeat(np.arange(_REPOS), _TASKS)
    ease = 1.2 * rng.normal(size=_REPOS)[repo] + 1.6 * rng.normal(size=tasks)
    frames = []
    for model, skill in (("atlas", -0.9), ("boreal", -0.4)):
        own = ease + skill + 0.5 * rng.normal(size=tasks)
        attempt = np.repeat(own, _SAMPLES) + 1.1 * rng.normal(size=tasks * _SAMPLES)
        passed = np.clip(np.floor(_TESTS * (1.1 + 0.25 * attempt)), 0, _TESTS).astype(np.int64)
        frames.append(
            pd.DataFrame(
                {
                    "model": model,
                    "item": np.repeat(np.arange(tasks), _SAMPLES),
                    "repo_id": [f"repo-{r:02d}" for r in np.repeat(repo, _SAMPLES)],
                    "sample": np.tile(np.arange(_SAMPLES), tasks),
                    "score": (passed == _TESTS).astype(np.int64),
                    "tests_passed": passed / _TESTS,
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def load_code_eval_cube() -> xr.Dataset:
    """The same made results as a cube.

    Returns
    -------
    Dataset
        ``score`` and ``tests_passed`` over ``model`` (2), ``item`` (80) and ``sample`` (10), with the coordinate ``repo_id`` along
        ``item``.

    Examples
    --------
    >>> from evalci_accessor import datasets
    >>> dict(datasets.load_code_eval_cube().sizes)
    {'model': 2, 'item': 80, 'sample': 10}
    """
    frame = load_code_eval()
    tasks = _REPOS * _TASKS
    shape = (2, tasks, _SAMPLES)
    return xr.Dataset(
        {
            name: (("model", "item", "sample"), frame[name].to_numpy(copy=True).reshape(shape))
            for name in ("score", "tests_passed")
        },
        coords={
            "model": ["atlas", "boreal"],
            "item": np.arange(tasks),
            "sample": np.arange(_SAMPLES),
            "repo_id": (
                "item",
                frame["repo_id"].to_numpy(dtype=object)[: tasks * _SAMPLES : _SAMPLES].astype(str),
            ),
        },
    )
