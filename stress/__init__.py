"""Random problems of every shape that the API accepts, solved by every method and held against each other."""
