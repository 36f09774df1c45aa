"""Before the data: widths, power, and how many clusters it takes."""
