"""A published league of ordinal quantifiers, computed again by its own recipe, and other methods on the same recipe.

`recipe` holds what all methods share (splits, bags, the score), `fits` the forests, `published` the thirteen methods of the league
by its formulas, `ours` the methods of the library on the same outputs, `store` what is kept between runs, `page` the Markdown.
"""
