"""What was read and the options of a call become the columns of its answer, with the warnings: once for all containers."""
