"""The paper's own method: cutting planes on a mixed-integer solver (and the big-M formulation, for comparison)."""

# At most so many cuts at fractional points before the tree. (Here, where it costs no import of SciPy's solvers.)
ROOT_CUTS = 20
