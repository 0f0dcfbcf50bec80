collect_ignore = ["extra_quantifiers"]  # a package of its own: importing it would register its methods for all tests
