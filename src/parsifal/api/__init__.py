"""What users call: `solve`, `relax`, `path`, `k_best`. Arguments are checked here, and the method is chosen."""
