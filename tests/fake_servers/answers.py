"""Answers, which may be wrong on purpose."""

import json
import time

REASONS = {
    200: "OK", 204: "No Content", 302: "Found", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found",
    409: "Conflict", 500: "Internal Server Error", 503: "Service Unavailable",
}  # fmt: skip


class Answer:
    """A value is written as JSON, a string as text, None not at all."""

    def __init__(self, status, value, headers=(), framing="length", keep_open=True, separators=None):
        self.status, self.value, self.framing, self.keep_open = status, value, framing, keep_open
        self.separators = separators
        self.headers = {} if value is None else {"Content-Type": "application/json"}
        if isinstance(value, str):
            self.headers["Content-Type"] = "text/plain"
        self.headers.update(headers)
        self.fault = {}

    def spoiled(self, fault):
        self.fault = fault
        self.status = fault.get("status", self.status)
        if isinstance(self.value, dict):
            self.value = {**self.value, **fault.get("answer", {})}
            self.value = {name: value for name, value in self.value.items() if value is not None}
        if "body" in fault:
            self.value = fault["body"]
        return self

    def is_slow(self):
        return "delay_end_ms" in self.fault

    def send(self, connection):
        """Whether the connection continues."""
        fault, value = self.fault, self.value
        if not isinstance(value, str):
            value = "" if value is None else json.dumps(value, separators=self.separators)
        body = value.encode()
        body += b" " * (fault.get("pad", 0) - len(body))
        framing = fault.get("framing", self.framing)
        headers = {**self.headers, **fault.get("headers", {})}
        if framing == "chunked":
            headers["Transfer-Encoding"] = "chunked"
            body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in cut_up(body)) + b"0\r\n\r\n"
        elif framing == "length" and self.status != 204:
            headers = {"Content-Length": str(len(body)), **headers}
        lines = [f"HTTP/1.1 {self.status} {REASONS.get(self.status, 'Answer')}"]
        lines += [f"{name}: {value}" for name, value in headers.items() if value is not None]
        head = ("\r\n".join(lines) + "\r\n\r\n").encode()
        cut = fault.get("cut")
        if cut is not None:
            connection.sendall(head + body[: len(body) // 2 if cut == "half" else cut])
            return False
        if self.is_slow():
            connection.sendall(head + body[: len(body) // 2])
            time.sleep(fault["delay_end_ms"] / 1000)
            connection.sendall(body[len(body) // 2 :])
        else:
            connection.sendall(head + body)
        return framing != "none" and fault.get("keep_open", self.keep_open)


def refusal(status, error, message):
    return Answer(status, {"error": error, "message": message})


def cut_up(body, length=16):
    return [body[at : at + length] for at in range(0, len(body), length)]
