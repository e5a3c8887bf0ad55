"""Independent answers for small problems, for the tests, the stress program and the forger.

`enumeration` tries every support in floating point, `exact` in exact arithmetic; `rational` has the formulas one by one
in fractions and shares nothing with `exact`, so that each holds the other; `reference` is what the estimators should
find, by their documentation. The referee of `benchmarks.peers` stays apart: plain NumPy that anyone can read.
"""
