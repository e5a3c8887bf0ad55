"""One adapter for each mixed-integer solver."""
