"""The compiled bottom layer: plain loops over flat arrays, status codes instead of exceptions."""
