"""The labels of the paper's tables: as printed, as computed from distances, and side by side."""
