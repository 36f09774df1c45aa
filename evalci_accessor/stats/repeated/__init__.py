"""Several samples an item: values of items, variance components, and designs from them."""
