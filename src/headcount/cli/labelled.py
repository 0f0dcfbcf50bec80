"""What `headcount estimate` shows of groups with some labels: the answer, then the one under label shift, then the test of both."""

from typing import Any

from headcount.cli.output import echo, in_command_words, p_text, print_shares, print_table, print_verdicts

__all__ = ["labelled_answer", "print_labelled"]


def print_labelled(groups: Any, by: str, label: str = "") -> None:
    """Print the design-based shares, those under label shift, and whether they contradict each other.

    Parameters
    ----------
    groups : GroupShares
        With labels of new items.
    by : str
        Title of the column of groups.
    label : str
        Title of the column of labels.
    """
    from headcount.stream.groups import group_label

    labelled = groups.labelled
    n_labels = int(labelled.n_labels.sum())
    echo(f"From {n_labels:,} labels of new items, and the model's predictions for all of them:")
    print_shares(groups, by, label)
    names = [group_label(name) for name in groups.names]
    about = [*groups.notes, *design_notes(groups)]
    print_verdicts(names, groups.verdicts, groups.advice, by, about)
    shift = labelled.label_shift
    echo()
    if shift.note:
        echo(f"There is no answer under label shift: {in_command_words(shift.note)}")
        return
    echo("If only the shares have changed since the model was made (label shift), from the labels of both tables:")
    print_shares(shift, by, label)
    _print_test(groups, by)
    for sentence in labelled.sentences(groups.names):
        echo(sentence)
    warned = [g for g, verdict in enumerate(shift.verdicts) if verdict in ("caution", "do not trust")]
    if warned:
        echo("The checks of label shift say:", nl=False)
        print_verdicts(
            [names[g] for g in warned], [shift.verdicts[g] for g in warned], [shift.advice[g] for g in warned], by
        )


def design_notes(groups: Any) -> list[str]:
    """Say what the design-based intervals mean."""
    about = (
        "It is about exactly these items."
        if groups.estimand == "sample"
        else "It is about all items that their source might send; for exactly these items it is narrower (--sample)."
    )
    gained = groups.labelled.gained
    known = gained[gained == gained]
    sentences = [f"The interval holds the true value in about {100 * groups.level:g} of 100 cases. {about}"]
    if known.size:
        sentences[0] += f" The predictions are worth about {max(float(known.sum()), 0.0):,.0f} further labels."
    return sentences


def _print_test(groups: Any, by: str) -> None:
    """Print difference and p-value of each group, and the smallest difference that the test finds."""
    from headcount.stream.groups import group_label

    labelled = groups.labelled
    rows = []
    corrected = labelled.p_corrected
    several = int((labelled.p_value == labelled.p_value).sum()) > 1
    for g, name in enumerate(groups.names):
        p = labelled.p_value[g]
        if p != p:
            continue
        largest = labelled.difference[g][abs(labelled.difference[g]).argmax()]
        reach = labelled.detectable[g].max()
        found = f"{100 * reach:.0f} points" if reach < 1.0 else "-"
        rows.append(
            [
                group_label(name),
                f"{100 * abs(largest):.1f} points",
                p_text(p),
                *([p_text(corrected[g])] if several else []),
                found,
            ]
        )
    if rows:
        columns = [(by or "group", "left"), ("largest difference", "right"), ("p", "right")]
        columns += [("p (corrected)", "right")] if several else []
        echo()
        echo("Do the two contradict each other? Design-based shares against those of the source labels alone:")
        print_table("", [*columns, ("found with 80 % power", "right")], rows)


def labelled_answer(groups: Any, g: int) -> dict[str, Any]:
    """Return what JSON holds of a group with labels, beside its design-based shares; empty without labels."""
    from headcount._validation import plain
    from headcount.stream.group_shares import none_if_nan

    labelled = groups.labelled
    if labelled is None:
        return {}
    shift = labelled.label_shift
    classes = [str(plain(name)) for name in groups.classes]
    ends = {"share": shift.shares, "share_low": shift.low, "share_high": shift.high}
    detectable = {name: labelled.test_of(g, j)["detectable"] for j, name in enumerate(classes)}
    return {
        "labels": int(labelled.n_labels[g]),
        "labels_gained": none_if_nan(labelled.gained[g]),
        "label_shift": {
            "shares": {
                name: {end: none_if_nan(values[g, j]) for end, values in ends.items()} for j, name in enumerate(classes)
            },
            "covariance": shift.covariance_of(g),
            "verdict": shift.verdicts[g],
            "advice": shift.advice[g],
            "note": in_command_words(shift.note),
        },
        "contradiction": {
            "p": none_if_nan(labelled.p_value[g]),
            "p_corrected": none_if_nan(labelled.p_corrected[g]),
            "difference": {name: none_if_nan(labelled.difference[g, j]) for j, name in enumerate(classes)},
            "detectable": detectable,
        },
    }
