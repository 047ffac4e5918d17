"""What kind of world a seed gets: how many hosts, which faults and how often, whose clock is off.

Each seed draws its own mix, most with some kinds of faults left out: what never meets in one mix often
meets in another. Nought is the calmest of each.
"""

from dataclasses import dataclass, replace
from datetime import timedelta

from tests.simulation.tape import Tape

HEARTBEAT = 30.0  # seconds between two looks at doubts

# kind -> per cent of places at which it strikes, when the seed has it at all
STRENGTHS: dict[str, tuple[float, ...]] = {
    "publish": (0.0, 20.0, 60.0),
    "prepare": (0.0, 20.0, 50.0),
    "find": (0.0, 30.0),
    "finish": (0.0, 30.0),
    "store": (0.0, 1.0, 6.0),
    "crash": (0.0, 0.4, 2.0),
    "freeze": (0.0, 0.4, 2.0),
    "deploy": (0.0, 50.0),
}

# The same, drawn aside: worlds without them are as they were before these came.
LATER: dict[str, tuple[float, ...]] = {
    "flood": (0.0, 0.0, 50.0),  # the network asks the whole app to wait
    "exchange": (0.0, 0.0, 40.0),  # of tokens
}

# Seconds by which the database's clock steps, once. From five minutes on the brake holds; below that nobody
# notices, and nothing may come of it. A step that is little more than five minutes may hide behind a freeze
# of everybody, and is not simulated.
SMALL = (5.0, -5.0, 20.0, -20.0, 60.0, -60.0, 110.0, -110.0, 280.0, -280.0)
STEPS = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, *SMALL, 7200.0, -7200.0, 900.0, -900.0)
HOST_STEPS = (0.0, 0.0, 0.0, 5.0, -20.0, 110.0, -280.0)  # of workers' own clocks


@dataclass(frozen=True, slots=True)
class Swarm:
    """One seed's mix."""

    hosts: int
    accounts: int
    deliveries: int
    meddlings: int
    shuffle: float
    lease: timedelta
    skews: tuple[float, ...]
    users: int  # who work on queues; 0: there are none
    acts: int  # of each user
    step: float
    host_step: float
    restore: bool
    faults: dict[str, float]
    tokens: bool = False  # they run out or are refused, and each can be exchanged once
    shared: bool = False  # a lane that all accounts send by, with limits of its own
    app_pace: float = 0.0  # seconds between starts that all accounts of a network share


DRAWS = 12 + len(STRENGTHS) + 1  # of a calm swarm


def draw(tape: Tape) -> Swarm:
    """Draw a mix; half of the seeds have nothing of what is drawn aside."""
    mix = Swarm(
        hosts=2 + tape.below(2),
        accounts=1 + tape.below(3),
        deliveries=2 + tape.below(10),
        meddlings=tape.below(6),
        shuffle=tape.one_of((0.0, 20.0)),
        lease=timedelta(seconds=tape.one_of((60, 30))),
        skews=tape.one_of(((0.0,), (0.0, 8.0, -8.0), (0.0, 120.0, -120.0))),
        users=tape.one_of((0, 2, 3, 3)),
        acts=3 + tape.below(10),
        step=tape.one_of(STEPS),
        host_step=tape.one_of(HOST_STEPS),
        restore=tape.one_of((False, False, False, True)),
        faults={kind: tape.one_of(strengths) for kind, strengths in STRENGTHS.items()},
    )
    if not tape.aside((False, True)):
        return mix
    return replace(
        mix,
        faults=mix.faults | {kind: tape.aside(strengths) for kind, strengths in LATER.items()},
        tokens=tape.aside((False, True)),
        shared=tape.aside((False, True)),
        app_pace=tape.aside((0.0, 0.0, 10.0, 25.0)),
    )
