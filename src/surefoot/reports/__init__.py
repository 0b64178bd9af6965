"""Reports: one self-contained HTML page each, readable offline, on paper and without JavaScript."""
