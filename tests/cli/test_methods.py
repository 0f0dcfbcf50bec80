"""`headcount methods`."""

import json

from typer.testing import CliRunner

from headcount.cli import app as cli


def run(*arguments):
    return CliRunner().invoke(cli.app, arguments)


def test_methods_are_listed_with_their_references():
    output = run("methods").output
    for word in (
        "MLPE",
        "CC",
        "PCC",
        "ACC",
        "PACC",
        "Forman 2008",
        "Bella et al. 2010",
        "nkld",
        "SVM(KLD)",
        "SVM(RAE)",
    ):
        assert word in output


def test_methods_as_json():
    records = json.loads(run("methods", "--json").output)
    counting = ["MLPE", "CC", "PCC", "ACC", "PACC", "SLD", "HDy"]
    explicit = ["ELM", "SVM(KLD)", "SVM(NKLD)", "SVM(Q)", "SVM(AE)", "SVM(RAE)"]
    expected = [*counting, *explicit, "QuaNet"]  # others in between
    assert [m["name"] for m in records["methods"] if m["name"] in expected] == expected
    assert all(m["reference"] for m in records["methods"])
    assert {"name": "nmd", "ordered": True}.items() <= records["errors"][7].items()
