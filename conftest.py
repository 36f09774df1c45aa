"""Fixtures and guards that all tests share."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import settings

import evalci_accessor

ROOT = Path(__file__).resolve().parent
os.environ.setdefault("MPLBACKEND", "Agg")  # pictures need no screen

settings.register_profile("default", deadline=None, max_examples=25, print_blob=True)
settings.register_profile("ci", settings.get_profile("default"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


def _skip(reason: str, switch: str) -> None:
    """Skip, or fail where the environment says that nothing may be missing."""
    if os.environ.get(switch) == "1":
        pytest.fail(f"{reason} ({switch}=1)", pytrace=False)
    pytest.skip(reason, allow_module_level=True)


def requires(module: str) -> ModuleType:
    """Import an optional module or skip; EVALCI_REQUIRE_ALL_DEPS=1 turns the skip into a failure."""
    try:
        return importlib.import_module(module)
    except ImportError:
        _skip(f"{module} is not installed", "EVALCI_REQUIRE_ALL_DEPS")
        raise


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of the real eval results; EVALCI_REQUIRE_DATA=1 turns its absence into a failure."""
    folder = Path(os.environ.get("EVALCI_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        _skip(f"no real data at {folder}; set EVALCI_DATA", "EVALCI_REQUIRE_DATA")
    return folder


@pytest.fixture(autouse=True)
def _global_rng_untouched():
    """Fail a test in which numpy's global random state moved."""
    before = np.random.get_state()  # noqa: NPY002
    yield
    after = np.random.get_state()  # noqa: NPY002
    same = all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))
    assert same, "numpy's global random state was used"


@pytest.fixture(autouse=True)
def _figures_are_closed():
    """Close what a test drew."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def rag():
    """Made results of three models on the same 200 items in 40 documents, as a frame."""
    return evalci_accessor.datasets.load_rag_eval()


@pytest.fixture
def cube():
    """The same as a Dataset."""
    return evalci_accessor.datasets.load_rag_eval_cube()
