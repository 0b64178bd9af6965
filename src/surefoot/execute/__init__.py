"""Running somebody's code: in processes of its own, within its time, with nothing left behind."""
