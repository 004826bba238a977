"""The kinds of goal: what a measure is to keep to. `met` answers yes, no, or nothing where noise hides it."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    text: str
    met: Callable

    def __str__(self):
        return self.text


def times(most):
    return Goal(f"<= {most:g} x floor", lambda measure: measure["ratio"] <= most)


def most(most):
    return Goal(f"<= {most:g}", lambda measure: measure["figure"] <= most)


def least(least):
    return Goal(f">= {least:g}", lambda measure: measure["figure"] >= least)


def above(most):
    """At most so much above the floor."""
    return Goal(f"<= floor + {most:g}", lambda measure: measure["figure"] <= measure["floor"] + most)


def times_and(times, more):
    """At most this many times the floor, and this much more."""
    text = f"<= {times:g} x floor + {more:g}"
    return Goal(text, lambda measure: measure["figure"] <= times * measure["floor"] + more)


def linear(most):
    """Within a fifth of the floor, which is the slope further down, and at most so much."""
    text = f"floor +- 20 %, <= {most:g}"
    return Goal(text, lambda measure: 0.8 <= measure["ratio"] <= 1.2 and measure["figure"] <= most)


def unless_noise(most):
    """At most so much, on a machine whose own noise, the floor, allows it. On another, if it is as near to the noise,
    nothing is to be said."""

    def met(measure):
        figure, floor = measure["figure"], measure["floor"]
        if figure <= most:
            return True
        return None if floor > most and figure <= floor + most else False

    return Goal(f"<= {most:g} where the floor is", met)


def scaled(most, low, high):
    """At most so much where the floor lies in a range; below and above it in proportion."""

    def met(measure):
        floor = measure["floor"]
        return measure["figure"] <= most * max(1, floor / high) * min(1, floor / low)

    return Goal(f"<= {most:g} at a floor of {low:g} to {high:g}", met)
