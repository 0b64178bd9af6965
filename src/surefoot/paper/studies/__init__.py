"""Studies: many runs, their tables and figures. They keep what is done when killed.

Each is a folder: `study` makes the runs, the other files sum them up. Failures and coverage are not of the paper alone.
"""
