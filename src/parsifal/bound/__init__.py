"""Formulas: the loss, dual values and their rounding, fixing, a few columns' quadratic, tightening, incumbents."""
