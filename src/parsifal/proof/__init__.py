"""Certificates and how they are checked: NumPy alone, and nothing of the solver."""
