"""The commands: what each does is described at the top of fake_server.py."""

import json


class Control:
    def __init__(self, faults, counters, report, node, leases):
        self.faults, self.counters, self.report, self.node, self.leases = faults, counters, report, node, leases
        self.token = None
        self.listener = None

    def obey(self, text):
        """The answer to one command or a list of them, as JSON text; never an exception."""
        try:
            commands = json.loads(text)
            if isinstance(commands, list):
                return [self.do(dict(command)) for command in commands]
            return self.do(dict(commands))
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"}

    def do(self, command):
        action = command.pop("do", None)
        if action not in ACTIONS:
            raise ValueError(f"do {action!r} is none of {', '.join(ACTIONS)}")
        return ACTIONS[action](self, **command) or {"done": action}

    def fault(self, fault, tag=None, times=None, after=0):
        self.faults.set(tag, fault, times, after)

    def clear(self, tag=None):
        self.faults.clear(tag)

    def tag(self, tag, **dials):
        following = self.counters.set(tag, dials)
        # A node of Leaf would see it with its next range only.
        self.node.drop(tag)
        return {"next": following}

    def tags(self, known):
        self.counters.known = known

    def require(self, token=None):
        self.token = token

    def leaf(self, tag=None, **modes):
        for mode, dial in modes.items():
            self.node.set(mode, dial, tag)

    def given(self, tag=None, mode="segment"):
        return {"given": self.node.given(mode, tag)}

    def pool(self, **dials):
        self.leases.set(dials)

    def tell_leases(self, name=None):
        return self.leases.listed(name)

    def spans(self):
        return self.leases.given()

    def doubt(self):
        self.leases.doubt()

    def dead(self, how=None):
        self.listener.die(how)

    def forget(self):
        self.report.forget()

    def tell(self, requests=1000):
        return self.report.as_json(requests)


ACTIONS = {
    "fault": Control.fault,
    "clear": Control.clear,
    "tag": Control.tag,
    "tags": Control.tags,
    "token": Control.require,
    "leaf": Control.leaf,
    "given": Control.given,
    "pool": Control.pool,
    "leases": Control.tell_leases,
    "spans": Control.spans,
    "doubt": Control.doubt,
    "dead": Control.dead,
    "forget": Control.forget,
    "report": Control.tell,
}
