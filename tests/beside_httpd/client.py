"""One HTTP/1.1 request on a connection of its own, and its response in a form that is the same at each run."""
import calendar
import email.utils
import http.client
import re
import socket
import time

from cases import escaped

# The page that httpd writes for an error. Its wording belongs to the server, not to the feature.
ERROR_PAGE = re.compile(rb"\A<!DOCTYPE html[^>]*>\s*<html[^>]*>\s*<head>\s*(?:<meta[^>]*>\s*)?<title>[345]\d\d ", re.IGNORECASE)
# Headers that describe the page and not the response.
OF_PAGE = {"Content-Type", "Content-Length"}
HTTP_DATE = re.compile(r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT")
# Dates this far from now are written relative to the response's Date.
FAR_SECONDS = 400 * 86400


class Response:
    def __init__(self, status, fields, body):
        self.status, self.fields, self.body = status, fields, body


def ask(port, method, target, fields, body):
    """Sends one request to 127.0.0.1 and reads the response.

    The method may end with a version of HTTP: GET/1.0. The target may end with the client's address: / from 127.0.0.2.
    """
    target, _, source = target.partition(" from ")
    method, _, version = method.partition("/")
    names = {field.partition(":")[0].lower() for field in fields}
    lines = [f"{method} {target} HTTP/{version or '1.1'}"]
    lines += [] if "host" in names else ["Host: localhost"]
    lines += [] if "connection" in names else ["Connection: close"]
    lines += [f"Content-Length: {len(body)}"] if body else []
    head = "\r\n".join(lines + fields + ["", ""]).encode("latin-1")
    with socket.create_connection(("127.0.0.1", port), 20, (source or "127.0.0.1", 0)) as client:
        client.settimeout(20)
        client.sendall(head + body)
        response = http.client.HTTPResponse(client, method=method)
        response.begin()
        # After a CONNECT that succeeds, the connection is a tunnel.
        is_tunnel = method == "CONNECT" and response.status < 300
        return Response(response.status, response.getheaders(), b"" if is_tunnel else response.read())


def answer_lines(response, shown, masks, places):
    """The lines of an `answer`: status, the headers named in `shown`, and the body, normalised."""
    fields = list(response.fields)
    date = next((value for name, value in fields if name.lower() == "date"), None)
    now = calendar.timegm(email.utils.parsedate(date)) if date else time.time()

    def normal(text):
        for value, name in places:
            text = re.sub(rf"{re.escape(value)}(?!\d)", lambda _: name, text)
        for pattern, name in masks:
            text = re.sub(pattern, name, text)
        return HTTP_DATE.sub(lambda found: relative(found[0], now), text)

    lines = [f"answer {response.status}"]
    is_error_page = ERROR_PAGE.search(response.body)
    is_listed = "Variants" in shown
    shown = [name for name in shown if name != "Variants" and not (is_error_page and name in OF_PAGE)]
    names = list(shown) + (["Location"] if "Location" not in shown else [])
    for name in names:
        values = [value for field, value in fields if field.lower() == name.lower()]
        lines += [f"< {name}: {normal(value)}".rstrip() for value in values]
        if not values and name != "Location":
            lines.append(f"< {name}: (none)")
    if is_error_page:
        variants = re.findall(rb"<li>.*", response.body) if is_listed else []
        return lines + ["< (error page)"] + ["    " + line.decode() for line in variants]
    body = response.body
    try:
        body = normal(body.decode()).encode()
    except UnicodeDecodeError:
        pass
    return lines + ["    " + line if line else "" for line in escaped(body)]


def relative(date, now):
    seconds = calendar.timegm(email.utils.parsedate(date)) - int(now)
    return date if abs(seconds) > FAR_SECONDS else "@DATE@" if seconds == 0 else f"@DATE{seconds:+d}@"
