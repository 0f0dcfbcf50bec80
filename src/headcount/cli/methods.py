"""`headcount methods`: list the methods and the error measures."""

from headcount.cli import options

__all__ = ["methods"]

_METHOD_FIELDS = ("name", "title", "classes", "needs", "reference")
_ERROR_FIELDS = ("name", "title", "of", "ordered", "reference")


def methods(as_json: options.JSON = False) -> None:
    """List the methods and error measures, with references.

    Example: headcount methods --json
    """
    from headcount.cli.output import json_bytes, print_table, to_stdout
    from headcount.errors import list_errors
    from headcount.quantifiers import list_methods

    methods = [{field: getattr(method, field) for field in _METHOD_FIELDS} for method in list_methods()]
    errors = [{field: getattr(error, field) for field in _ERROR_FIELDS} for error in list_errors()]
    if as_json:
        to_stdout(json_bytes({"methods": methods, "errors": errors}))
        return
    for title, records in (("Methods", methods), ("\nError measures", errors)):
        fields = [field for field in records[0] if field != "ordered"]
        rows = [[str(record[field]) for field in fields] for record in records]
        print_table(title, [(field, "left") for field in fields], rows)
