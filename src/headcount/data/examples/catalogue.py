"""`EXAMPLES`: the examples by name, with what each of their files holds and the commands to begin with."""

from collections.abc import Callable
from dataclasses import dataclass

from headcount.data.examples.conversations import conversation_files
from headcount.data.examples.households import household_files
from headcount.data.examples.infections import infection_files
from headcount.data.examples.reviews import example_files
from headcount.data.examples.stays import stay_files
from headcount.data.examples.survey import survey_files
from headcount.data.examples.tickets import ticket_files

__all__ = ["EXAMPLES", "Example"]


@dataclass(frozen=True)
class Example:
    """A made-up case.

    Attributes
    ----------
    title : str
    make : callable
        Returns the content of each file by its name.
    contents : dict of str to str
        What each file holds.
    commands : tuple of str
        What to do with them first.
    """

    title: str
    make: Callable[[], dict[str, str]]
    contents: dict[str, str]
    commands: tuple[str, ...]


EXAMPLES = {
    "reviews": Example(
        "reviews of a device with low, middle and high stars",
        example_files,
        {
            "reviews.csv": "3,000 labelled reviews (review, stars)",
            "new.csv": "6,000 unlabelled ones (date, review)",
            "truth.csv": "the true shares of their stars, by month",
        },
        (
            "headcount fit reviews.csv --text review --label stars -o stars.headcount",
            "headcount estimate stars.headcount new.csv --by date:month --html shares.html",
        ),
    ),
    "tickets": Example(
        "support tickets by topic, with a topic that comes up in November",
        ticket_files,
        {
            "tickets.csv": "1,200 tickets that were sorted by hand (ticket, opened, channel, team, subject, body, topic)",
            "new_tickets.csv": "3,000 tickets of 2025 without a topic",
            "true_topics.csv": "how many of them are about what, by month and by team",
        },
        (
            "headcount fit tickets.csv --text body --label topic -o topics.headcount",
            "headcount estimate topics.headcount new_tickets.csv --by opened:month --html topics.html",
        ),
    ),
    "survey": Example(
        "open answers of a survey on a new tram line, in four waves",
        survey_files,
        {
            "coded_answers.csv": "900 answers that were coded by hand (person, wave, age, region, weight, answer, position)",
            "new_answers.csv": "2,400 answers of four waves that nobody coded",
            "true_positions.csv": "the true positions, by wave, by region and by age",
        },
        (
            "headcount fit coded_answers.csv --text answer --label position --ordered against,unsure,for -o tram.headcount",
            "headcount estimate tram.headcount new_answers.csv --by wave --html tram.html",
        ),
    ),
    "households": Example(
        "answers of whole households on the tram line, drawn with unequal chances in four regions",
        household_files,
        {
            "coded_households.csv": "answers of 240 households, coded by hand (household, region, weight, answer, position)",
            "new_households.csv": "answers of 320 other households that nobody coded",
            "true_town.csv": "the true shares of the town's people",
        },
        (
            "headcount fit coded_households.csv --text answer --label position --cluster household --weight weight "
            "--stratum region -o town.headcount",
            "headcount estimate town.headcount new_households.csv --cluster household --weight weight --stratum region",
        ),
    ),
    "tests": Example(
        "weekly tests for an infection at three sites, and a study of how often the test is right",
        infection_files,
        {
            "study.csv": "1,000 people who were also tested by a laboratory (age, fever, cough, smell_loss, signal, pcr)",
            "new_tests.csv": "7,200 people tested in 16 weeks (tested, site, age, fever, cough, smell_loss, signal)",
            "confusion.csv": "what the quick test said of the people of the study, by what the laboratory found",
            "counts.csv": "how often the quick test said what, by week (week, class, count)",
            "true_infections.csv": "the true shares, by week and by site",
        },
        (
            "headcount estimate --confusion confusion.csv counts.csv --by week",
            "headcount fit study.csv --features fever,cough,smell_loss,signal --label pcr -o infected.headcount",
        ),
    ),
    "judges": Example(
        "support conversations that three language models judged, and people some of them",
        conversation_files,
        {
            "judged.csv": "1,800 conversations of three months, 180 with a human label (conversation, month, large, small, tiny, "
            "human)",
            "phrases.csv": "what the small model writes, and the class that it means (answer, class)",
            "true_answers.csv": "the true shares, of all and by month",
        },
        (
            "headcount judge judged.csv --human human --judge large,small,tiny --map phrases.csv",
            "headcount judge judged.csv --human human --judge large,small,tiny --map phrases.csv --by month --html judges.html",
        ),
    ),
    "stays": Example(
        "comments of hotel guests with 1 to 5 stars, and months of a renovation",
        stay_files,
        {
            "stays.csv": "750 comments with stars (comment, stars)",
            "new_stays.csv": "2,400 comments of six months without (date, comment)",
            "true_stars.csv": "their true stars, by month",
        },
        (
            "headcount fit stays.csv --text comment --label stars -o stays.headcount",
            "headcount estimate stays.headcount new_stays.csv --by date:month --value stars --at-least 4 --html stays.html",
        ),
    ),
}
