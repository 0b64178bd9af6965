"""From noisy pressure and flow to stiffness and rarefaction: calibration of (f_L, f_S, xi) of the pulmonary simulator.

Research software, not a medical device.
"""
