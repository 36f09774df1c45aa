"""Two systems on the same items: their difference, its tests, and many comparisons at once."""
