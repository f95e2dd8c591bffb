"""What was found, as a Markdown page and as lines for who waits."""

import datetime
import os
import platform
import statistics
import zipfile
from io import BytesIO

from judge import CHANGED, CUT, FAILED, KEPT, LOST
from measure import PARTS, WARM_UP
from values import CASES

OUTCOMES = (KEPT, CUT, CHANGED, LOST, FAILED)

# A token of English or JSON has about four bytes with the tokenizers of today's models.
BYTES_A_TOKEN = 4


def page(world, servers, findings, missing, counts, load):
    """The whole page."""
    now = datetime.datetime.now(datetime.UTC)
    busy = "" if load < 1.5 else (
        "\n**Provisional**: the machine was busy with other work, so that times of all are too long; ratios hold better.\n")
    return f"""# Beside other servers

Written by `scripts/bench --peers` on {now.day} {now:%B %Y}, {now:%H:%M} UTC: one run on one machine ({os.cpu_count()} cores,
{platform.system()} {platform.machine()}, load average {load:.2f} before it), everybody in turns, one PostgreSQL 18 on loopback
with SCRAM and one login that may only read. Medians of {counts.starts} starts and {counts.rounds} warm calls.
{busy}
## Time and memory

{times(servers, findings)}

- *First list* and *first answer* count from the start of the process: `initialize`, `notifications/initialized`,
  `tools/list`, then a statement of seven rows. *Connection* says whether two calls share one. *Memory* is the peak of all
  processes of a server after {counts.rounds + WARM_UP} calls.
- pinguard answers a request without what a client says first, as protocol 2026-07-28 has it: alone, a first `tools/list`
  takes {milliseconds(findings["pinguard"].listed_alone)} and a first `query` {milliseconds(findings["pinguard"].answered_alone)} from the start of the process.
- pinguard is measured as Lambda runs it, through an emulated Runtime API, and reads its secrets over HTTP in each call; the
  others are asked over a pipe and have the password in their environment, which spares them that work.

{ratios(servers, findings, world)}

Where the time of the first `query` alone goes:

{parts(findings["pinguard"])}

## What the model reads

{sizes(servers, findings)}

A token is taken for {BYTES_A_TOKEN} bytes. The result is 100 rows of six columns (int, date, text, numeric, bool, text with NULLs), as the
text that the model reads; *bytes sent* is the whole answer, where some have the same rows once more as structured content.

## Exactness

{len(CASES)} values, each asked for alone. The answer is read as text, as a model reads it, and every notation counts as *kept* from
which the value can be told without knowing the driver: PostgreSQL's text, JSON, ISO 8601, hex, base64, lists of bytes, Python's own.
*Cut* is shorter and says so, *changed* is another value (also a date that became an instant, and a timestamp that got a zone), *lost* is
none, *failed* is an error instead of the row.

{summary(servers, findings)}

{details(servers, findings)}

## How each was run

{notes(world, servers, missing)}
"""


def table(head, lines):
    """A Markdown table; all columns but the first are numbers or words of one kind."""
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] + ["---:"] * (len(head) - 1), *lines])


def times(servers, findings):
    """Starts, calls, memory."""
    lines = []
    for server in servers:
        found = findings[server.name]
        if found.failure:
            lines.append([server.name, server.language, f"failed: {found.failure[:80]}", "", "", "", ""])
            continue
        lines.append([server.name, server.language, milliseconds(found.listed), milliseconds(found.answered),
                      milliseconds(found.warm), "kept" if found.keeps_connection else "new each call",
                      f"{found.memory / 1e6:.1f} MB"])
    return table(["server", "in", "first list", "first answer", "warm call", "connection", "memory"], lines)


def parts(found):
    """The steps of the function's first answer."""
    return table(["step", "takes"], [[what, milliseconds(times)] for what, times in zip(PARTS, found.parts)])


def sizes(servers, findings):
    """Bytes and tokens."""
    lines = [[server.name, str(found.tools), f"{found.tools_bytes:,}", f"{found.tools_bytes // BYTES_A_TOKEN:,}",
              f"{found.result_bytes:,}", f"{found.result_bytes // BYTES_A_TOKEN:,}", f"{found.sent_bytes:,}"]
             for server in servers if not (found := findings[server.name]).failure]
    return table(["server", "tools", "bytes of `tools/list`", "tokens", "bytes of the result", "tokens", "bytes sent"], lines)


def summary(servers, findings):
    """How many values went which way."""
    lines = []
    for server in servers:
        values = list(findings[server.name].values.values())
        lines.append([server.name, *(str(values.count(outcome)) for outcome in OUTCOMES)])
    return table(["server", *OUTCOMES], lines)


def details(servers, findings):
    """Each value; what was kept is left blank, so that the rest is seen."""
    head = ["value", *(f"{number + 1}" for number in range(len(servers)))]
    lines = [[case.name, *("" if (word := findings[server.name].values[case.name]) == KEPT else word for server in servers)]
             for case in CASES]
    key = ", ".join(f"{number + 1} {server.name}" for number, server in enumerate(servers))
    return f"Blank is kept; {key}.\n\n" + table(head, lines)


def notes(world, servers, missing):
    """Versions and settings."""
    lines = [f"- **{server.name}** {server.version()}, {server.bytes_on_disk(world) / 1e6:,.0f} MB on disk: {server.run}"
             for server in servers]
    return "\n".join(lines + [f"- **{server.name}**: not measured, it is not installed here" for server in missing])


def ratios(servers, findings, world):
    """What is aimed at, and whether it was reached, in one list."""
    own = findings["pinguard"]
    others = [server for server in servers if server.folder and not findings[server.name].failure]
    lines = []

    def aim(what, value, most, unit):
        met = "met" if value <= most else "**not met**"
        lines.append(f"- {what}: {value:,.2f}{unit}, at most {most:g}{unit} is the aim: {met}")

    def at_least(what, value, least):
        met = "met" if value >= least else "**not met**"
        lines.append(f"- {what}: {value:,.1f} times, at least {least} is the aim: {met}")

    if own.failure:
        return f"pinguard failed: {own.failure}"
    aim("first `tools/list` alone", statistics.median(own.listed_alone) * 1e3, 30, " ms")
    aim("first `query` alone", statistics.median(own.answered_alone) * 1e3, 60, " ms")
    for languages, least in ((("Node", "Python"), 10), (("Go",), 4)):
        times = [statistics.median(findings[server.name].answered) for server in others if server.language in languages]
        if times:
            name = " or ".join(languages)
            at_least(f"first answer, fastest in {name} to pinguard", min(times) / statistics.median(own.answered), least)
    aim("zipped program", zipped(world.program) / 1e6, 5, " MB")
    aim("peak memory", own.memory / 1e6, 20, " MB")
    for keeps, most in ((False, 1.0), (True, 1.2)):
        same = [server for server in others if findings[server.name].keeps_connection is keeps]
        what = "keep their connection" if keeps else "open one for each call"
        if not same:
            lines.append(f"- warm call: none of the others here is of those that {what}")
            continue
        fastest = min(same, key=lambda server: statistics.median(findings[server.name].warm))
        ratio = statistics.median(own.warm) / statistics.median(findings[fastest.name].warm)
        if own.keeps_connection is keeps:
            aim(f"warm call, pinguard to the fastest of those that {what} ({fastest.name})", ratio, most, "")
        else:
            way = "keeps its" if own.keeps_connection else "opens one for each call"
            lines.append(f"- warm call, pinguard, which {way}, to the fastest of those that {what} ({fastest.name}): {ratio:.2f}")
    return "\n".join(lines)


def zipped(program):
    """The size of the program as it is uploaded."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        archive.write(program, "bootstrap")
    return len(file.getvalue())


def milliseconds(times):
    """The median."""
    return f"{statistics.median(times) * 1e3:,.1f} ms" if times else "none"
