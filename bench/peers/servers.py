"""Who is measured: where each server lies, how its own document says to run it on a production database read only."""

import json
import os
import re
import stat
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from urllib.parse import urlsplit

from aws import Aws
from function import HOST, Function
from stdio import Stdio

ROOT = Path(__file__).resolve().parents[2]
PEERS = ROOT / "target/peers"
NODE = ROOT / "target/node/node_modules/node/bin/node"

# The secrets that pinguard reads.
CONTROL_SECRET, DATABASE_SECRET = "control", "stock"

# The secret that the one peer that wants AWS finds its login in.
LOGIN_SECRET = "arn:aws:secretsmanager:us-east-1:123456789012:secret:login-AbCdEf"


class World:
    """The server that all ask, and everything around it, as the program `bench` has made it."""

    def __init__(self):
        given = json.loads(os.environ["PINGUARD_BENCH_WORLD"])
        self.program = Path(given["program"])
        self.folder = Path(given["folder"])
        self.ca = given["ca"]
        self.url = given["reader"]
        self.path, self.key = given["path"], given["key"]
        login = urlsplit(self.url)
        self.host, self.port, self.user, self.password = login.hostname, login.port, login.username, login.password
        self.database = login.path[1:]
        account = json.dumps({"username": self.user, "password": self.password})
        self.aws = Aws(given["secrets"] | {LOGIN_SECRET: account}, self.host, self.port)

    @cached_property
    def environment(self):
        """What every program gets: as little as is possible, and a home of its own."""
        home = self.folder / "home"
        home.mkdir()
        return {"PATH": f"{NODE.parent}:/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8", "NO_COLOR": "1"}


@dataclass(frozen=True)
class Server:
    """One that is measured."""

    name: str
    # What it is written in.
    language: str
    # Where it lies in target/peers; none is pinguard.
    folder: str | None
    # The tool that runs a statement, which all of them call `sql`.
    tool: str
    # How it was run, in a word for the table's notes.
    run: str
    command: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    # Arguments of the tool that name the database, where a server wants that of the model.
    database: dict[str, str] = field(default_factory=dict)
    # The tool that connects, where a server wants one to be called first.
    connect: str | None = None

    @property
    def stateless(self):
        """Whether a request may come without what a client says first."""
        return self.folder is None

    def installed(self):
        """Whether all of it is there."""
        return self.folder is None or (PEERS / self.folder / "packages").exists()

    def start(self, world):
        """Starts it."""
        log = world.folder / f"{re.sub('[^a-z]+', '-', self.name)}.log"
        if self.folder is None:
            environment = {"AWS_ENDPOINT_URL": world.aws.url, "PINGUARD_CONTROL_SECRET": CONTROL_SECRET,
                           "PINGUARD_PUBLIC_URL": f"https://{HOST}"}
            return Function([world.program], environment, log, world.path, world.key)
        words = {"url": world.url, "host": world.host, "port": world.port, "user": world.user, "ca": world.ca,
                 "password": world.password, "database": world.database, "aws": world.aws.url, "node": NODE,
                 "here": PEERS / self.folder, "secret": LOGIN_SECRET, "folder": world.folder}
        command = [word.format(**words) for word in self.command]
        environment = {name: value.format(**words) for name, value in self.environment.items()}
        for name, text in FILES.items():
            path = world.folder / name
            if not path.exists() and any(name in word for word in command):
                path.write_text(text.format(**words))
        return Stdio(command, world.environment | environment, log)

    def ready(self, world, running, seconds):
        """Makes it ready for statements, where that takes a call."""
        if self.connect:
            arguments = self.database | {"region": "us-east-1", "database_type": "RPG", "port": world.port}
            running.request("tools/call", {"name": self.connect, "arguments": arguments}, seconds)

    def ask(self, running, sql, seconds):
        """Runs a statement: gives the result, and how many bytes the answer had."""
        arguments = self.database | {"sql": sql}
        return running.request("tools/call", {"name": self.tool, "arguments": arguments}, seconds)

    def version(self):
        """What the package says of itself."""
        if self.folder is None:
            return "this checkout"
        return (PEERS / self.folder / "packages").read_text().split()[0].rsplit("@", 1)[-1].rsplit("==", 1)[-1]

    def bytes_on_disk(self, world):
        """All files of the installation, without Node and Python themselves."""
        if self.folder is None:
            return world.program.stat().st_size
        files = (path.lstat() for path in (PEERS / self.folder).rglob("*"))
        return sum(file.st_size for file in files if stat.S_ISREG(file.st_mode))


FILES = {
    "tools.yaml": "sources:\n  stock:\n    kind: postgres\n    host: {host}\n    port: {port}\n    database: {database}\n"
                  "    user: {user}\n    password: {password}\n    queryParams:\n      sslmode: disable\n"
                  "tools:\n  execute_sql:\n    kind: postgres-execute-sql\n    source: stock\n"
                  "    description: Run a statement that reads.\n"
                  "  list_tables:\n    kind: postgres-list-tables\n    source: stock\n"
                  "    description: List tables and their columns.\n",
    "dbhub.toml": '[[sources]]\nid = "stock"\ndsn = "{url}"\n\n'
                  '[[tools]]\nname = "execute_sql"\nsource = "stock"\nreadonly = true\n\n'
                  '[[tools]]\nname = "search_objects"\nsource = "stock"\n',
}

SERVERS = [
    Server("pinguard", "Rust", None, "query",
           "the function `mcp` under an emulator of Lambda's Runtime API; reads its secrets over HTTP for each call"),
    Server("@toolbox-sdk/server", "Go", "npm-toolbox", "execute_sql",
           "`--stdio` with a `tools.yaml` of two tools, since it calls its prebuilt ones not secure enough for run time; "
           "the Go program itself, without the wrapper that npm puts around it",
           ["{here}/node_modules/@toolbox-sdk/server-linux-x64/bin/toolbox", "--stdio", "--config",
            "{folder}/tools.yaml", "--disable-version-check"]),
    Server("mcp-postgres-server", "Node", "npm-mcp-postgres-server", "query",
           "`DATABASE_URL`, `PG_ALLOW_WRITE=false`",
           ["{node}", "{here}/node_modules/mcp-postgres-server/build/index.js"],
           {"DATABASE_URL": "{url}", "PG_ALLOW_WRITE": "false"}),
    Server("@bytebase/dbhub", "Node", "npm-dbhub", "execute_sql",
           "`--transport stdio` with a `dbhub.toml` that has `readonly = true`",
           ["{node}", "{here}/node_modules/@bytebase/dbhub/dist/index.js", "--transport", "stdio",
            "--config", "{folder}/dbhub.toml"]),
    Server("@modelcontextprotocol/server-postgres", "Node", "npm-server-postgres", "query",
           "the URL alone: it only reads",
           ["{node}", "{here}/node_modules/@modelcontextprotocol/server-postgres/dist/index.js", "{url}"]),
    Server("@henkey/postgres-mcp-server", "Node", "npm-henkey", "pg_execute_sql",
           "`--connection-string`; it has no read-only mode of its own",
           ["{node}", "{here}/node_modules/@henkey/postgres-mcp-server/build/index.js", "--connection-string", "{url}"]),
    Server("awslabs-postgres-mcp-server", "Python", "py-awslabs", "run_query",
           "`connect_to_database` with `pgwire`, without `--allow_write_query`; it always uses TLS, and asks RDS and Secrets "
           "Manager when it connects; given the database at its start, each query fails with an error of its own",
           ["{here}/bin/awslabs.postgres-mcp-server", "--region", "us-east-1", "--secret_arn", "{secret}",
            "--privilege_check", "enforce", "--sslmode", "verify-full", "--ca_bundle", "{ca}"],
           {"AWS_ENDPOINT_URL": "{aws}", "AWS_ACCESS_KEY_ID": "bench", "AWS_SECRET_ACCESS_KEY": "bench",
            "AWS_REGION": "us-east-1", "FASTMCP_LOG_LEVEL": "ERROR"},
           {"connection_method": "pgwire", "cluster_identifier": "", "db_endpoint": "127.0.0.1",
            "database": "postgres"},
           "connect_to_database"),
    Server("postgres-mcp", "Python", "py-postgres-mcp", "execute_sql",
           "`--access-mode=restricted`; with pglast 7.22 and the SDK below 2, since PyPI has not the pglast 7.2.0 that it pins",
           ["{here}/bin/postgres-mcp", "--access-mode=restricted", "{url}"]),
    Server("kenning-pg-mcp", "Python", "py-kenning-pg-mcp", "execute_query",
           "its default, `restricted`",
           ["{here}/bin/kenning-pg-mcp"], {"DATABASE_URI": "{url}", "PG_MCP_LOG_LEVEL": "ERROR"}),
]
