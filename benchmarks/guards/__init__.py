"""What must not get worse: instruction counts, limits, memory."""
