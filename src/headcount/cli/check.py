"""`headcount check`: whether the shares of new items can be trusted."""

from headcount._escaping import printable
from headcount.cli import options
from headcount.cli.model import model_from
from headcount.cli.option_groups import BlackBox, Design, Rows, with_option_groups
from headcount.cli.output import echo
from headcount.cli.progress import progress_bar

__all__ = ["check"]


@with_option_groups
def check(
    model: options.MODEL,
    files: options.FILES,
    *,
    rows: Rows,
    as_json: options.JSON = False,
    min_items: options.MIN_ITEMS = 30,
    stratum: options.STRATUM = None,
    design: Design,
    black_box: BlackBox,
    statistics: options.STATISTICS = False,
) -> None:
    """Check, without labels, whether the shares of new items can be trusted, group by group.

    Example: headcount check stars.headcount new.csv --by date:month
    """
    from headcount.cli.output import json_bytes, p_text, print_verdicts, to_stdout
    from headcount.desk import check_tables, provenance
    from headcount.stream.groups import grouping_title

    loaded = model_from(model, files, black_box)
    with progress_bar("Reading") as progress:
        records = check_tables(
            loaded,
            files,
            by=rows.grouping,
            where=rows.conditions,
            min_items=min_items,
            counts=black_box.confusion,
            statistics=statistics,
            design=design.columns(stratum),
            progress=progress,
        )
    if as_json:
        groups = {
            record["group"]: {key: value for key, value in record.items() if key != "group"} for record in records
        }
        to_stdout(json_bytes({"by": rows.grouping, "from": provenance(loaded, files, model), "groups": groups}))
        return
    labels, verdicts, advice = ([record[key] for record in records] for key in ("group", "verdict", "advice"))
    n_tested = sum(record["p_corrected"] is not None for record in records)
    for record in records:
        p = record["p_corrected"]
        tested = n_tested > 1 and p is not None and record["verdict"] != "trust"
        corrected = f" (p {'= ' * (p >= 0.001)}{p_text(p)}, corrected for {n_tested} groups)" if tested else ""
        echo(f"{printable(record['group'])} ({record['n']:,} items): {record['verdict']}{corrected}")
    print_verdicts(labels, verdicts, advice, grouping_title(rows.grouping))
