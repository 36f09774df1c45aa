"""One rate or mean score: its interval, how clustered its scores are, and several clusterings that cross."""
