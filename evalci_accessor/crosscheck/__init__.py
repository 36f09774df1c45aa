"""Means and differences beside those of statsmodels: its own estimators, and models fitted by the caller."""
