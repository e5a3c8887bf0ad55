"""Programs that try to break the package: under load, under faults, with nonsense."""
