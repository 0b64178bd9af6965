"""From noisy pressure and flow to stiffness and rarefaction: inference of (f_L, f_S, xi) with the pulmonary simulator.

Research software, not a medical device.
"""
