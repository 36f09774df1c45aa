"""Accessors for DataFrame and Series."""
