"""Variance components of repeated samples: cells to items, and the answer over the sources."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from evalci_accessor._components import COMPONENT_COLUMNS, check_split, component_columns, sources_of
from evalci_accessor._options import SplitOptions
from evalci_accessor._xarray.dims import Cube, Dims
from evalci_accessor._xarray.repeated import Roles, read_items, wrap_along
from evalci_accessor.options import NanPolicy


def variance_components(
    data: Cube,
    *,
    item: Any,
    cluster: Any,
    sample: Any,
    score: Any,
    dim: Dims,
    nested: bool,
    nan_policy: NanPolicy,
    options: SplitOptions,
) -> xr.Dataset:
    """Variance between clusters, items and samples, as the accessor's method of this name."""
    check_split(options)
    cells, items = read_items(
        data, Roles(item=item, cluster=cluster, sample=sample, score=score, dim=dim), nested=nested, nan_policy=nan_policy,
    )  # fmt: skip
    columns = component_columns(items, options)
    return wrap_along(cells, "source", np.array(sources_of(items)), columns, ("source", *COMPONENT_COLUMNS))
