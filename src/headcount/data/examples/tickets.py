"""Support tickets of a maker of smart home devices: a price rise, a strike, and in November a topic that is new."""

from datetime import datetime, timedelta
from random import Random

from headcount.data.examples.files import csv_text, truth_text
from headcount.data.examples.phrases import Writer

__all__ = ["TICKET_SEED", "ticket_files"]

TICKET_SEED = 2024
TOPICS = ("billing", "delivery", "fault", "login", "question")
NEW_TOPIC = "privacy"
"""A topic that no labelled ticket has."""
_BODIES = {
    "billing": (
        "I was charged {amount} twice this month.", "The invoice shows {amount} but my plan costs less.",
        "Please refund the {amount} for the subscription I cancelled.", "My card was declined although it is valid.",
        "Why has the price of my plan gone up?", "I need an invoice with our VAT number on it.",
        "The discount code was not applied to my bill.", "You keep taking money after I cancelled.",
        "I would like to change from monthly to yearly payment.", "There is a payment on my statement that I do not recognise.",
        "The refund you promised has not arrived in my account.", "Can I pay by bank transfer instead of card?",
    ),
    "delivery": (
        "My order {order} has not arrived yet.", "Tracking has not moved since {day}.",
        "The parcel was left at the wrong address.", "The box came damaged and the seal was open.",
        "Half of the order is missing from the parcel.", "When will you ship order {order}?",
        "The courier says that nobody was at home, which is not true.", "I got a {device} although I ordered another one.",
        "I would like to change the delivery address of {order}.", "The parcel is stuck at the depot.",
        "I was told it would be here by {day}.", "Can you deliver to a pick-up point instead?",
    ),
    "fault": (
        "The {device} does not turn on any more.", "The {device} loses its connection every night.",
        "After the update the {device} restarts all the time.", "The app crashes when I open the schedule.",
        "The {device} makes a buzzing noise.", "It shows error {code} and then goes dark.",
        "The sensor of the {device} is off by five degrees.", "The {device} gets very hot.",
        "The button on the side does not react.", "It worked for two weeks and then stopped.",
        "The picture freezes after a few seconds.", "The battery of the {device} is empty after a day.",
    ),
    "login": (
        "I can't sign in any more.", "The password reset mail never comes.",
        "It says that my account is locked.", "The code from the text message is not accepted.",
        "I changed my phone and lost the authenticator.", "My user name is not known, it says.",
        "I would like to change the e-mail address of my account.", "I am logged out again after every minute.",
        "The link to confirm my address has expired.", "My wife can't join our household account.",
        "Signing in with Google leads to an empty page.", "I forgot which address I registered with.",
    ),
    "question": (
        "Does the {device} work without internet?", "How do I set a schedule for the weekend?",
        "Can I use the {device} outdoors?", "Is the {device} compatible with the older hub?",
        "How many devices can one household have?", "Where do I find the manual in my language?",
        "What is the range of the {device}?", "Will there be a black version?",
        "Can two people control the {device}?", "How do I connect it to my voice assistant?",
        "Which bulb size do I need for the {device}?", "Is there a discount for schools?",
    ),
    NEW_TOPIC: (
        "I read in the news that strangers could watch the cameras.", "Please delete all recordings that you hold about me.",
        "Was my household part of the data breach?", "Under the privacy law I ask for a copy of my personal data.",
        "Who had access to the videos of my living room?", "I want written proof that my footage was erased.",
        "Have you informed the data protection authority?", "Were faces of my children leaked?",
        "I withdraw my consent to store recordings.", "Is it safe to leave the camera plugged in after the leak?",
    ),
}  # fmt: skip
_SUBJECTS = {
    "billing": ("Invoice", "Refund", "Charged twice", "Question about my bill", "Payment"),
    "delivery": ("Where is my order?", "Order {order}", "Parcel", "Delivery", "Wrong item"),
    "fault": ("{device} broken", "{device} offline", "Error {code}", "App crashes", "Not working"),
    "login": ("Can't log in", "Password", "Account locked", "My account", "Sign-in code"),
    "question": ("Question", "{device}", "Before I buy", "How to", "Compatibility"),
    NEW_TOPIC: ("Data leak", "My recordings", "Delete my data", "Camera in the news", "Privacy"),
}
_ANY_SUBJECT = ("Help please", "Urgent", "Hello", "No answer so far", "Your reply", "Customer {number}")
_ASIDES = (
    "I have been a customer for years.", "This is the third time that I write.", "We have several of your devices at home.",
    "I tried to call but nobody answered.", "I am rather disappointed.", "A friend recommended you.",
    "I have looked at the help pages.", "It is for my parents.", "I need this before {day}.", "I attach a photo.",
    "My customer number is {number}.", "The chat could not help me.", "I bought the {device} in spring.",
)  # fmt: skip
_GREETINGS = ("Hi,", "Hello,", "Hello team,", "Good morning,", "Dear support,", "")
_ENDINGS = ("Thanks!", "Thank you, {name}", "Best, {name}", "Regards, {name}", "Please get back to me soon.", "")
_SLOTS = {
    "device": ("lamp", "thermostat", "camera", "speaker", "door lock", "smart plug", "hub"),
    "amount": ("9.90", "14.90", "29.80", "49", "119 euros"),
    "order": ("LX-20417", "LX-31882", "LX-40096", "LX-51230", "LX-60754"),
    "day": ("Monday", "Tuesday", "Thursday", "Friday", "last week"),
    "code": ("E07", "E12", "E31", "404"),
    "number": ("118204", "220931", "305577", "417260"),
    "name": ("Ana", "Tom", "Priya", "J. Weber", "Marta", "Lee"),
}
_SENTENCE_SHARES = (0.3, 0.4, 0.3)
"""Shares of further sentences about the topic, asides, and sentences about any of the old topics."""
_CHANNELS = ("email", "chat", "web form", "phone")
_CHANNEL_SHARES = (0.4, 0.3, 0.2, 0.1)
_TEAMS = ("Dublin", "Lisbon", "Warsaw")
_HAND_SORTED = (0.22, 0.20, 0.26, 0.17, 0.15)
"""Shares of topics among the labelled tickets, those of the last quarter of 2024."""
_EVENTS = {
    "billing": {3: 0.25, 4: 0.35, 5: 0.2},
    "delivery": {8: 0.1, 9: 0.45, 10: 0.3},
    "fault": {6: 0.1, 7: 0.15},
    NEW_TOPIC: {11: 0.45, 12: 0.25},
}
"""Share of a month's tickets that an event adds to a topic: a price rise, a strike, a heat wave, a leak."""


def ticket_files(n_labelled: int = 1_200, n_month: int = 250, seed: int = TICKET_SEED) -> dict[str, str]:
    r"""Make the files of the example: content as CSV, by file name.

    Examples
    --------
    >>> files = ticket_files(n_labelled=10, n_month=2)
    >>> list(files), files["new_tickets.csv"].count("\n")
    (['tickets.csv', 'new_tickets.csv', 'true_topics.csv'], 25)
    """
    generator = Random(seed)  # of the standard library: the same for all versions
    writer = Writer(generator, _SLOTS)
    number = 70_000
    labelled = []
    topics = generator.choices(TOPICS, _HAND_SORTED, k=n_labelled)
    for row in sorted((*_ticket(topic, datetime(2024, 10, 1), 92, generator, writer), topic) for topic in topics):
        number += generator.randrange(1, 9)
        labelled.append((number, *row))
    new, truth = [], []
    for month in range(1, 13):
        rows = [
            (*_ticket(topic, datetime(2025, month, 1), 28, generator, writer), topic)
            for topic in _topics(month, n_month, generator)
        ]
        for *fields, topic in sorted(rows):
            number += generator.randrange(1, 9)
            new.append((number, *fields))
            truth.append((f"2025-{month:02}", fields[2], topic))
    names = ("ticket", "opened", "channel", "team", "subject", "body")
    by_group = [(month, topic) for month, _, topic in truth] + [
        (team, topic) for _, team, topic in sorted(truth, key=_team)
    ]
    return {
        "tickets.csv": csv_text((*names, "topic"), labelled),
        "new_tickets.csv": csv_text(names, new),
        "true_topics.csv": truth_text(by_group, TOPICS),
    }


def _team(row: tuple[str, str, str]) -> str:
    return row[1]


def _topics(month: int, n: int, generator: Random) -> list[str]:
    """Draw the topics of a month's tickets."""
    added = {topic: months.get(month, 0.0) for topic, months in _EVENTS.items()}
    usual = 1.0 - sum(added.values())
    shares = [usual * share + added.get(topic, 0.0) for topic, share in zip(TOPICS, _HAND_SORTED, strict=True)]
    return generator.choices((*TOPICS, NEW_TOPIC), [*shares, added[NEW_TOPIC]], k=n)


def _ticket(
    topic: str, first: datetime, n_days: int, generator: Random, writer: Writer
) -> tuple[str, str, str, str, str]:
    """Draw when a ticket was opened, channel, team, subject and body."""
    hours = 24 * generator.randrange(n_days) + int(generator.gauss(14, 4)) % 24
    opened = first + timedelta(hours=hours, minutes=generator.randrange(60))
    team_shares = (0.3, 0.3, 0.4) if topic in ("delivery", "fault") else (0.45, 0.35, 0.2)
    channel = generator.choices(_CHANNELS, _CHANNEL_SHARES)[0]
    team = generator.choices(_TEAMS, team_shares)[0]
    subject = writer.one(_SUBJECTS[topic] if generator.random() < 0.6 else _ANY_SUBJECT)
    other = _BODIES[generator.choice(TOPICS)]
    own = _BODIES[topic]
    sentences = writer.several(own, (own, _ASIDES, other), _SENTENCE_SHARES, generator.randrange(2, 6))
    parts = [writer.one(_GREETINGS), *sentences, writer.one(_ENDINGS)]
    return (
        f"{opened:%Y-%m-%d %H:%M}",
        channel,
        team,
        subject[0].upper() + subject[1:],
        writer.with_slips(" ".join(filter(None, parts))),
    )
