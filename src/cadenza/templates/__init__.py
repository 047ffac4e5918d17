"""Templates: text with variables, checked when it is saved, frozen as a version, rendered for one recipient.

The language has variables, a fixed list of filters and one kind of condition: no expressions, no attribute access,
no loops, nothing of the program can be reached from a text.
"""
