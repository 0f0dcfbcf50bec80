"""`headcount fit`: what is printed and written."""

from tests.cli.conftest import FIT


def test_skipped_methods_and_learners_are_listed(reviews, run):
    code, out, err = run(*FIT[:8], "--budget", "0.001", "-j", "1")
    assert code == 0, err
    assert "Skipped forest: not for text" in out
    assert "the time budget was spent (" in out
    assert "Next: headcount estimate" in out


def test_a_folder_can_not_be_the_model_file(reviews, refused):
    (reviews / "folder").mkdir()
    refused("is a folder", *FIT[:7], "folder", *FIT[8:])
    refused("budget", *FIT, "--budget", "0")
