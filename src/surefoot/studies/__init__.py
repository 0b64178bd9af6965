"""Studies: many runs in lock-step, their statistics, tables and figures. They keep what is done when killed."""
