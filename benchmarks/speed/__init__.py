"""How fast: one file a stage or a comparison."""
