"""Accessors for DataArray and Dataset."""
