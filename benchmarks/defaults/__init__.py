"""Which defaults are good ones, by evidence."""
