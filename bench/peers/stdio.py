"""A server that speaks MCP over its standard input and output, started and asked as a client does."""

import json
import os
import selectors
import signal
import subprocess
import time

CLIENT = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


class Failed(Exception):
    """The server ended, said nothing in time, or said something that is no answer."""


class Refused(Failed):
    """The server answered with an error of the protocol, and serves on."""


class Stdio:
    """A running server. It is a process group of its own, so that closing ends all that it has started."""

    def __init__(self, command, environment, log):
        self._log = log
        with open(log, "ab") as errors:
            self._process = subprocess.Popen(
                command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                cwd=log.parent, start_new_session=True, bufsize=0)
        os.set_blocking(self._process.stdout.fileno(), False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._process.stdout, selectors.EVENT_READ)
        self._rest = b""
        self._lines = []
        self._id = 0

    def open(self, seconds):
        """What a client says first."""
        self.request("initialize", CLIENT, seconds)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def request(self, method, params, seconds):
        """Sends a request; gives its result, and how many bytes the answer had."""
        self._id += 1
        self._send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        deadline = time.monotonic() + seconds
        while True:
            line = self._line(deadline)
            try:
                message = json.loads(line)
            except ValueError:
                continue  # Some write a greeting first.
            if message.get("id") == self._id and "method" not in message:
                if "error" in message:
                    raise Refused(json.dumps(message["error"]))
                return message["result"], len(line)
            if "id" in message and "method" in message:
                error = {"code": -32601, "message": "not here"}
                self._send({"jsonrpc": "2.0", "id": message["id"], "error": error})

    def settle(self):
        """Nothing to wait for: a server reads its next line when it likes."""

    def processes(self):
        """The ids of the processes that serve."""
        return [self._process.pid]

    def close(self):
        """Ends it and all that it has started."""
        self._selector.close()
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()

    def _send(self, message):
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
        except BrokenPipeError:
            raise Failed(self._ended()) from None

    def _line(self, deadline):
        while not self._lines:
            left = deadline - time.monotonic()
            if left <= 0 or not self._selector.select(left):
                raise Failed("no answer in time")
            piece = self._process.stdout.read(1 << 20)
            if piece is None:
                continue
            if not piece:
                raise Failed(self._ended())
            *lines, self._rest = (self._rest + piece).split(b"\n")
            self._lines = [line for line in lines if line.strip()]
        return self._lines.pop(0)

    def _ended(self):
        words = self._log.read_text(errors="replace").strip().splitlines()
        return "it ended: " + (words[-1] if words else "without a word")
