"""The paper's own method: cutting planes on a mixed-integer solver (and the big-M formulation, for comparison)."""
