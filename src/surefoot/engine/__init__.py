"""The pure step of R runs at once: histories in, fitted models and the next point of each run out."""
