"""The funnel for one problem: root, reduce, tree, certificate; and what is kept in between."""
