"""Bytes that nobody should trust, through everything that reads bytes."""
