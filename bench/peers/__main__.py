"""Measures pinguard beside other servers: `scripts/bench --peers` installs these, makes the world, and runs this."""

import argparse
import json
import os
import sys
from pathlib import Path

import measure
import report
from servers import PEERS, ROOT, SERVERS, World
from values import CASES


def main():
    """Measures, prints, writes the page."""
    parser = argparse.ArgumentParser(prog="scripts/bench --peers")
    parser.add_argument("--starts", type=int, default=11, help="starts of each server (11)")
    parser.add_argument("--rounds", type=int, default=200, help="warm calls of each server (200)")
    parser.add_argument("--only", nargs="*", default=[], help="parts of names; pinguard is always there")
    parser.add_argument("--page", type=Path, default=ROOT / "docs/peers.md", help="the page to write (docs/peers.md)")
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    world = World()
    try:
        chosen = [server for server in SERVERS
                  if not arguments.only or not server.folder or any(word in server.name for word in arguments.only)]
        servers = [server for server in chosen if server.installed()]
        missing = [server for server in chosen if not server.installed()]
        findings = {server.name: measure.Findings() for server in servers}
        if wrong := measure.wrong_cases(world, servers[0]):
            sys.exit(f"PostgreSQL writes these values otherwise than bench/peers/values.py has them: {', '.join(wrong)}")
        say(f"values: {', '.join(server.name for server in servers)}")
        measure.exactness(world, servers, findings)
        say(f"{arguments.starts} starts of each")
        measure.starts(world, servers, findings, arguments.starts)
        say(f"{arguments.rounds} warm calls of each")
        measure.warm(world, servers, findings, arguments.rounds)
        page = report.page(world, servers, findings, missing, arguments, load)
    finally:
        world.aws.close()
    arguments.page.parent.mkdir(exist_ok=True)
    arguments.page.write_text(page)
    answers = {case.name: {name: found.answers[case.name] for name, found in findings.items()} for case in CASES}
    (PEERS / "answers.json").write_text(json.dumps(answers, indent=1, ensure_ascii=False))
    print(page)
    say(f"written to {arguments.page}; what each said of each value is in target/peers/answers.json")


def say(text):
    """Tells who waits."""
    print(text, file=sys.stderr, flush=True)


main()
