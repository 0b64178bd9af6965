"""
A Python function
=================

After this tutorial you can.
"""

import surefoot

print(surefoot.__version__)
