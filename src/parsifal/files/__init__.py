"""Files that are whole or not at all, files that anyone may have made, and journals."""
