"""What is asked and what is answered: the problem, the gap, the solution, progress."""
