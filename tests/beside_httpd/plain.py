#!/usr/bin/env python3
"""A server without any feature: `plain.py ROOT PORT` sends the files of ROOT/htdocs as they are.

`record.py --compare "plain.py @ROOT@ @PORT@"` then lists the cases that no missing feature can fail.
"""
import email.utils
import http.server
import mimetypes
import os
import sys
import urllib.parse


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def respond(self):
        path = f"{sys.argv[1]}/htdocs" + os.path.normpath(urllib.parse.unquote(self.path.split("?")[0]))
        try:
            with open(path, "rb") as file:
                status, body = 200, file.read()
        except (OSError, ValueError):
            status, body = 404, b'<!DOCTYPE HTML PUBLIC "-//IETF//DTD HTML 2.0//EN">\n<html><head>\n<title>404 Not Found</title>'
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if status == 404:
            self.send_header("Content-Type", "text/html; charset=iso-8859-1")
        if status == 200:
            self.send_header("Content-Type", mimetypes.guess_type(path)[0] or "text/x-unknown")
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("Last-Modified", email.utils.formatdate(os.stat(path).st_mtime, usegmt=True))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_POST = do_HEAD = respond


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler).serve_forever()
