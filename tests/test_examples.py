"""The example scripts run as they are, in a fresh interpreter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"

pytestmark = pytest.mark.skipif(not EXAMPLES.exists(), reason="the examples are not beside the tests")

# What must stand in the output of each.
EXPECTED = {
    "quickstart.py": ["naive", "honest", "n_clusters", "doc_id", "width_ratio", "{'model': 3, 'item': 200}"],
    "few_clusters.py": [
        "0 of 68", "68 items in 9 clusters", "20 items in 4 clusters", "20 items in 2 clusters",
        "DegenerateRateWarning", "FewClustersWarning",
    ],
    "own_data.py": ["2 without a verdict", "As it is: 2 of 540 scores", "old       fr", "confidence_level"],
    "compare_two.py": ["all              84", "exact", "icc_averaged", "noninferior", "+19.0 points", "12 documents"],
    "planning.py": ["200 questions to 40 documents", "PlanWarning", "n_clusters_high", "own size finds", "item_icc", "===="],
    "repeated.py": ["1600 programs: 2 models, 80 tasks", "all of k pass", "sample_share", "std_error_doubled"],
    "cube.py": ["small plain", "clustered by document", "n_eff", "doc "],
}  # fmt: skip


def run(script: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error::DeprecationWarning", str(EXAMPLES / script)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, encoding="utf-8")


def test_every_example_is_tried():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(EXPECTED)


@pytest.mark.parametrize("script", EXPECTED)
def test_example(script):
    done = run(script)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert [words for words in EXPECTED[script] if words not in done.stdout] == []
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_few_clusters_gives_intervals_with_a_width():
    lines = [line for line in run("few_clusters.py").stdout.splitlines() if line.startswith("honest")]
    assert len(lines) == 3
    for line in lines:
        low, high = line.split("[")[1].rstrip("]").split(", ")
        assert float(high) - float(low) > 0.2
