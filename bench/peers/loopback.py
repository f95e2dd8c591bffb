"""As much of an HTTP server as the stand-ins need, with little work of its own in what is measured."""

import socket
import threading


class Loopback:
    """Listens on loopback and hands each request over: `take(path, headers, body, answer)`, on a thread of its connection.

    `answer(status, headers, body)` sends what is answered, and may be called later and from another thread."""

    def __init__(self, take):
        self._take = take
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        """Listens no more."""
        self._listener.close()

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        def answer(status, headers, body):
            head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            connection.sendall(f"HTTP/1.1 {status}\r\n{head}content-length: {len(body)}\r\n\r\n".encode() + body)

        try:
            with connection, connection.makefile("rb") as reader:
                while line := reader.readline():
                    headers = {}
                    while header := reader.readline().strip():
                        name, _, value = header.decode("latin-1").partition(":")
                        headers[name.lower()] = value.strip()
                    body = reader.read(int(headers.get("content-length", 0)))
                    self._take(line.split()[1].decode(), headers, body, answer)
        except OSError:
            pass  # The other side has ended, which whoever waits for it sees.
