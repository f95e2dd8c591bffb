"""What is measured of each server, all in turns, so that a busy machine slows everybody."""

import json
import time
from dataclasses import dataclass, field
from pathlib import Path

from answers import Unreadable, rows, texts
from judge import FAILED, judge
from servers import CONTROL_SECRET, DATABASE_SECRET
from stdio import Failed, Refused
from values import CASES, statement

SQL = "SELECT item, price, sold FROM stock WHERE sold > 5 ORDER BY item"
WIDE = "SELECT id, placed, customer, amount, paid, note FROM orders ORDER BY id LIMIT 100"
OWN_CONNECTION = "SELECT pg_backend_pid() AS pid"

# Seconds that a start and a call may take.
START, CALL = 60, 30
WARM_UP = 20

# So many calls, each with a connection of its own, cannot come from a pool: none here has more than five.
CONNECTIONS = 12

# The steps of the function's first answer, as its stand-ins see them.
PARTS = ("the program starts and asks for its first event", "it asks for the secret of the control database",
         "it has opened that database, knows caller and node, and asks for the secret of the database",
         "it has opened the database, judged the statement, and answered")


@dataclass
class Findings:
    """What was found of one server; times are seconds, one for each try."""

    listed: list[float] = field(default_factory=list)
    answered: list[float] = field(default_factory=list)
    listed_alone: list[float] = field(default_factory=list)
    answered_alone: list[float] = field(default_factory=list)
    # Where the time to the first answer goes: a list for each of PARTS.
    parts: list[list[float]] = field(default_factory=lambda: [[] for _ in PARTS])
    warm: list[float] = field(default_factory=list)
    memory: int = 0
    tools: int = 0
    tools_bytes: int = 0
    result_bytes: int = 0
    sent_bytes: int = 0
    keeps_connection: bool | None = None
    values: dict[str, str] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)
    failure: str | None = None


def starts(world, servers, findings, count):
    """From the start of the process to the first list of tools, and to the first answer of a statement."""
    for _ in range(count):
        for server in servers:
            if findings[server.name].failure:
                continue
            with Attempt(findings[server.name]) as attempt:
                since = time.perf_counter()
                running = attempt.keep(server.start(world))
                running.open(START)
                running.request("tools/list", {}, START)
                attempt.findings.listed.append(time.perf_counter() - since)
                server.ready(world, running, START)
                check(server.ask(running, SQL, CALL)[0], 7)
                attempt.findings.answered.append(time.perf_counter() - since)
            if server.stateless:
                starts_alone(world, server, findings[server.name])


def starts_alone(world, server, findings):
    """The same, each with one request and nothing before it, and the steps to the answer."""
    with Attempt(findings) as attempt:
        since = time.perf_counter()
        attempt.keep(server.start(world)).request("tools/list", {}, START)
        findings.listed_alone.append(time.perf_counter() - since)
    with Attempt(findings) as attempt:
        world.aws.asked.clear()
        since = time.perf_counter()
        running = attempt.keep(server.start(world))
        result, _ = server.ask(running, SQL, START)
        answered = time.perf_counter()
        check(result, 7)
        findings.answered_alone.append(answered - since)
        asked = dict(reversed(world.aws.asked))
        moments = [since, running.ready_at, asked[CONTROL_SECRET], asked[DATABASE_SECRET], answered]
        for part, begin, end in zip(findings.parts, moments, moments[1:]):
            part.append(end - begin)


def warm(world, servers, findings, count):
    """Calls of a server that has served before; and what it holds, says and keeps by then."""
    running = {}
    try:
        for server in servers:
            if findings[server.name].failure:
                continue
            with Attempt(findings[server.name]):
                running[server.name] = server.start(world)
                running[server.name].open(START)
                server.ready(world, running[server.name], START)
        for round_ in range(WARM_UP + count):
            for server in servers:
                if findings[server.name].failure:
                    continue
                with Attempt(findings[server.name]) as attempt:
                    client = running[server.name]
                    client.settle()
                    since = time.perf_counter()
                    result, _ = server.ask(client, SQL, CALL)
                    passed = time.perf_counter() - since
                    check(result, 7)
                    if round_ >= WARM_UP:
                        attempt.findings.warm.append(passed)
        for server in servers:
            if findings[server.name].failure is None:
                with Attempt(findings[server.name]) as attempt:
                    look(server, running[server.name], attempt.findings)
    finally:
        for client in running.values():
            client.close()


def look(server, client, findings):
    """Sizes, memory, and whether two calls share a connection."""
    tools, _ = client.request("tools/list", {}, CALL)
    findings.tools = len(tools["tools"])
    findings.tools_bytes = len(compact(tools["tools"]))
    result, findings.sent_bytes = server.ask(client, WIDE, CALL)
    check(result, 100)
    findings.result_bytes = sum(len(block["text"].encode()) for block in result["content"])
    processes = {rows(server.ask(client, OWN_CONNECTION, CALL)[0])[0][0][1] for _ in range(CONNECTIONS)}
    findings.keeps_connection = len(processes) < CONNECTIONS
    findings.memory = sum(peak(process) for process in family(client.processes()))


def exactness(world, servers, findings):
    """Each value on its own, so that one that fails takes no other with it."""
    for server in servers:
        found = findings[server.name]
        left = list(CASES)
        while left and found.failure is None:
            with Attempt(found) as attempt:
                client = attempt.keep(server.start(world))
                client.open(START)
                server.ready(world, client, START)
                while left and ask(server, client, left[0], found):
                    left.pop(0)
            if left:  # It has ended, or said nothing: the next case gets a fresh process.
                found.values[left.pop(0).name] = FAILED
        found.values |= {case.name: FAILED for case in left}


def ask(server, client, case, found):
    """Asks for one value, and notes what became of it. Says whether the server still serves."""
    try:
        result, _ = server.ask(client, statement(case), CALL)
    except Refused as failure:
        found.values[case.name], found.answers[case.name] = FAILED, str(failure)
    except Failed as failure:
        found.answers[case.name] = str(failure)
        return False
    else:
        found.values[case.name], found.answers[case.name] = judge(case, result), " ".join(texts(result))[:2000]
    return True


def wrong_cases(world, server):
    """The cases whose text is not what PostgreSQL itself says: none, or the list is wrong."""
    client = server.start(world)
    client.open(START)
    wrong = []
    for case in CASES:
        if case.want is None:
            continue
        want = "repeat('0123456789', 100000)" if case.kind == "long" else f"$want${case.want}$want$"
        sql = f"SELECT concat({case.sql}) = {want} AS v"
        try:
            right = rows(server.ask(client, sql, CALL)[0]) == [[("v", True)]]
        except (Failed, Unreadable) as failure:
            raise SystemExit(f"{case.name}: {failure}") from failure
        if not right:
            wrong.append(case.name)
    client.close()
    return wrong


def check(result, count):
    """A result must have so many rows, else what was measured is not the same work."""
    found = len(rows(result))
    if found != count:
        raise Unreadable(f"{found} rows instead of {count}")


def compact(value):
    """JSON without blanks, as bytes."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def family(processes):
    """Those processes and all below them."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text().rpartition(") ")[2].split()
        except OSError:
            continue  # It has ended since.
        parents.setdefault(int(words[1]), []).append(int(path.parent.name))
    found = list(processes)
    for process in found:
        found.extend(parents.get(process, []))
    return found


def peak(process):
    """The most memory that a process has had, in bytes."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


class Attempt:
    """Notes a failure with the server's findings instead of stopping all, and ends what was started."""

    def __init__(self, findings):
        self.findings = findings
        self._running = None

    def keep(self, running):
        """Remembers what is to be ended."""
        self._running = running
        return running

    def __enter__(self):
        return self

    def __exit__(self, kind, failure, _):
        if self._running is not None:
            self._running.close()
        if kind is not None and issubclass(kind, (Failed, Unreadable, OSError)):
            self.findings.failure = str(failure)
            return True
        return False
