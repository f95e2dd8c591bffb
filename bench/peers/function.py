"""pinguard's function as Lambda runs it: a Runtime API hands it events of a function URL and takes its answers."""

import json
import queue
import subprocess
import time

from loopback import Loopback
from stdio import CLIENT, Failed, Refused

HOST = "bench.lambda-url.us-east-1.on.aws"

# What Lambda tells every function of itself, and AWS's client of who asks.
ENVIRONMENT = {
    "AWS_LAMBDA_FUNCTION_NAME": "mcp",
    "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "128",
    "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
    "AWS_LAMBDA_LOG_GROUP_NAME": "/aws/lambda/mcp",
    "AWS_LAMBDA_LOG_STREAM_NAME": "stream",
    "AWS_REGION": "us-east-1",
    "AWS_ACCESS_KEY_ID": "bench",
    "AWS_SECRET_ACCESS_KEY": "bench",
}


class Function:
    """A running function."""

    def __init__(self, command, environment, log, path, key):
        self._requests = queue.Queue()
        self._runtime = Loopback(self._take)
        # When it first asked for an event.
        self.ready_at = None
        with open(log, "ab") as output:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
                env=ENVIRONMENT | environment | {"AWS_LAMBDA_RUNTIME_API": self._runtime.address})
        self._path = path
        self._key = key
        self._id = 0
        self._waiting = None

    def open(self, seconds):
        """What a client of the protocol's older versions says first; the function remembers nothing of it."""
        self.request("initialize", CLIENT, seconds)
        self._post({"jsonrpc": "2.0", "method": "notifications/initialized"}, seconds)

    def request(self, method, params, seconds):
        """Sends a request; gives its result, and how many bytes the answer had."""
        body = self._post({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, seconds)
        message = json.loads(body)
        if "error" in message:
            raise Refused(json.dumps(message["error"]))
        return message["result"], len(body.encode())

    def settle(self):
        """Waits until the function asks for its next event: only then would Lambda hand it one."""
        if self._waiting is None:
            self._waiting = self._next(time.monotonic() + 10)

    def processes(self):
        """The ids of the processes that serve."""
        return [self._process.pid]

    def close(self):
        """Ends it."""
        self._process.kill()
        self._process.wait()
        self._runtime.close()

    def _post(self, message, seconds):
        deadline = time.monotonic() + seconds
        waiting, self._waiting = self._waiting, None
        _, _, answer = waiting or self._next(deadline)
        self._id += 1
        headers = {"lambda-runtime-aws-request-id": f"event-{self._id}",
                   "lambda-runtime-deadline-ms": int((time.time() + seconds) * 1000),
                   "lambda-runtime-invoked-function-arn": "arn:aws:lambda:us-east-1:123456789012:function:mcp"}
        answer("200 OK", headers, json.dumps(self._event(json.dumps(message))).encode())
        path, body, answer = self._next(deadline)
        answer("202 Accepted", {}, b"")
        if not path.endswith(f"/event-{self._id}/response"):
            raise Failed(body.decode(errors="replace"))
        result = json.loads(body)
        if result["statusCode"] not in (200, 202):
            raise Failed(f"status {result['statusCode']}: {result.get('body')}")
        return result.get("body") or ""

    def _event(self, body):
        return {
            "version": "2.0", "routeKey": "$default", "rawPath": self._path, "rawQueryString": "",
            "headers": {"host": HOST, "content-type": "application/json", "accept": "application/json, text/event-stream",
                        "authorization": f"Bearer {self._key}"},
            "requestContext": {
                "accountId": "anonymous", "apiId": "bench", "domainName": HOST, "domainPrefix": "bench",
                "http": {"method": "POST", "path": self._path, "protocol": "HTTP/1.1", "sourceIp": "127.0.0.1",
                         "userAgent": "bench"},
                "requestId": "bench", "routeKey": "$default", "stage": "$default",
                "time": "01/Dec/2026:00:00:00 +0000", "timeEpoch": 1796083200000},
            "body": body, "isBase64Encoded": False}

    def _take(self, path, _, body, answer):
        self.ready_at = self.ready_at or time.perf_counter()
        self._requests.put((path, body, answer))

    def _next(self, deadline):
        """The function's next request: its path, its body, and what answers it."""
        while True:
            try:
                return self._requests.get(timeout=min(0.5, max(0.01, deadline - time.monotonic())))
            except queue.Empty:
                if self._process.poll() is not None:
                    raise Failed("the function has ended") from None
                if time.monotonic() > deadline:
                    raise Failed("no answer in time") from None
