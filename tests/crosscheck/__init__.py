"""Our numbers beside those of statsmodels."""
