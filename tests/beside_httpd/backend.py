"""The server behind the proxy: it answers with what it was asked, or as its path says."""
import http.server
import threading
import urllib.parse


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "backend", ""
    # Headers that differ from run to run or belong to the connection.
    LEFT_OUT = {"connection", "cdn-loop"}

    def log_message(self, *_):
        pass

    def reply(self, status, fields, body):
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value.replace("@BACKEND@", str(self.server.server_port)))
        if "Content-Length" not in dict(fields) and status not in (204, 304):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD" and status not in (204, 304):
            self.wfile.write(body)

    def respond(self):
        path = self.path.split("?")[0]
        length = int(self.headers.get("Content-Length") or 0)
        sent = self.rfile.read(length)
        if path.startswith("/status/"):
            return self.reply(int(path.rsplit("/", 1)[1]), [("Content-Type", "text/plain")], b"status from the backend\n")
        if "/header/" in path:
            # /header/NAME/VALUE: a response with this header; "~" stands for a slash, "^" for a blank.
            name, value = path.split("/header/")[1].split("/", 1)
            value = urllib.parse.unquote(value).replace("~", "/").replace("^", " ")
            status = 302 if name in ("Location", "URI") else 200
            return self.reply(status, [("Content-Type", "text/plain"), (name, value)], b"header\n")
        if path.startswith("/drop"):
            # The connection ends before any response.
            self.close_connection = True
            return None
        if path.startswith("/hang"):
            # No response until the proxy gives up.
            self.rfile.read()
            self.close_connection = True
            return None
        if path.startswith("/short"):
            self.close_connection = True
            return self.reply(200, [("Content-Type", "text/plain"), ("Content-Length", "100")], b"less than that\n")
        if path.startswith("/chunked"):
            self.send_response(200)
            self.send_header("Content-Type", "text/plain")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            return self.wfile.write(b"4\r\none \r\n4\r\ntwo\n\r\n0\r\n\r\n")
        if path.startswith("/bad"):
            self.close_connection = True
            return self.wfile.write(b"this is no HTTP\r\n\r\n")
        text = f"{self.command} {self.path} {self.request_version}\n"
        for name, value in sorted(self.headers.items(), key=lambda field: field[0].lower()):
            if name.lower() not in self.LEFT_OUT:
                text += f"{name}: {value}\n"
        return self.reply(200, [("Content-Type", "text/plain")], text.encode() + sent)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_OPTIONS = do_PATCH = respond


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A proxy may close a connection at any time."""


def start():
    """Starts the backend on a free port of 127.0.0.1, in threads that end with this program."""
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port
