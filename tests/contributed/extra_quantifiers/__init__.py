"""A package of somebody else's with two quantifiers, one of each family."""
