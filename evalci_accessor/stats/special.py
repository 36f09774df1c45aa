"""scipy.special, imported at the first call: it would make a third of the package's import time.

>>> from evalci_accessor.stats import special
>>> float(special.expit(0.0))
0.5
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    import scipy.special

    found = getattr(scipy.special, name)
    globals()[name] = found
    return found
