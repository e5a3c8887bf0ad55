"""Parsifal and its peers side by side, judged by a referee that trusts none of them: `make bench-quick`."""
