"""The kinds of goal: what a measure is to keep to. `met` answers yes, no, or nothing where it cannot be told."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Times:
    """At most so many times the floor."""

    most: float

    def __str__(self):
        return f"<= {self.most:g} x floor"

    def met(self, measure):
        return measure["ratio"] <= self.most


@dataclass(frozen=True)
class Most:
    """At most so much."""

    most: float

    def __str__(self):
        return f"<= {self.most:g}"

    def met(self, measure):
        return measure["figure"] <= self.most


@dataclass(frozen=True)
class Least:
    """At least so much."""

    least: float

    def __str__(self):
        return f">= {self.least:g}"

    def met(self, measure):
        return measure["figure"] >= self.least


@dataclass(frozen=True)
class Above:
    """At most so much above the floor."""

    most: float

    def __str__(self):
        return f"<= floor + {self.most:g}"

    def met(self, measure):
        return measure["figure"] <= measure["floor"] + self.most


@dataclass(frozen=True)
class UnlessNoise:
    """At most so much, on a machine whose own noise, the floor, allows it. On another, if it is as near to the noise,
    nothing is to be said."""

    most: float

    def __str__(self):
        return f"<= {self.most:g} where the floor is"

    def met(self, measure):
        figure, floor = measure["figure"], measure["floor"]
        if figure <= self.most:
            return True
        return None if floor > self.most and figure <= floor + self.most else False


@dataclass(frozen=True)
class TimesAnd:
    """At most so many times the floor, and so much more."""

    times: float
    more: float

    def __str__(self):
        return f"<= {self.times:g} x floor + {self.more:g}"

    def met(self, measure):
        return measure["figure"] <= self.times * measure["floor"] + self.more


@dataclass(frozen=True)
class Linear:
    """Within a fifth of the floor, which is the slope further down, and at most so much."""

    most: float

    def __str__(self):
        return f"floor +- 20 %, <= {self.most:g}"

    def met(self, measure):
        return 0.8 <= measure["ratio"] <= 1.2 and measure["figure"] <= self.most


@dataclass(frozen=True)
class Scaled:
    """At most so much where the floor lies in a range; below and above it in proportion."""

    most: float
    low: float
    high: float

    def __str__(self):
        return f"<= {self.most:g} at a floor of {self.low:g} to {self.high:g}"

    def met(self, measure):
        floor = measure["floor"]
        return measure["figure"] <= self.most * max(1, floor / self.high) * min(1, floor / self.low)
