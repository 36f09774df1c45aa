"""Variance components of repeated samples: rows to items, and a row for each key and source of the answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from evalci_accessor._components import COMPONENT_COLUMNS, check_split, component_columns, sources_of
from evalci_accessor._options import SplitOptions
from evalci_accessor._pandas.columns import Frame
from evalci_accessor._pandas.repeated import Roles, read_items, tidy_along
from evalci_accessor.options import NanPolicy


def variance_components(
    data: Frame,
    *,
    item: Any,
    cluster: Any,
    sample: Any,
    score: Any,
    by: Any,
    nested: bool,
    nan_policy: NanPolicy,
    options: SplitOptions,
) -> pd.DataFrame:
    """Variance between clusters, items and samples, as the accessor's method of this name."""
    check_split(options)
    rows, keys, items = read_items(
        data, Roles(item=item, cluster=cluster, sample=sample, score=score, by=by), nested=nested, nan_policy=nan_policy,
        reserved=("source", *COMPONENT_COLUMNS),
    )  # fmt: skip
    return tidy_along(rows, keys, "source", np.array(sources_of(items)), component_columns(items, options))
