"""Global solvers of other libraries, and surefoot's own, behind one interface that counts every evaluation alike."""
