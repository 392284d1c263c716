#!/usr/bin/env python3
"""Changes the output of lib2to3 for the Autobahn TestSuite so that it runs with Python 3 and autobahn 22.7.

    port.py FOLDER

In Python 2 a string is bytes. The cases keep such strings, with a character for each byte (latin-1); they become bytes where
they leave for the library, and strings again where they come from it. What a case sends and expects stays as it is.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])

LOOKALIKE = '''"""binascii for strings with a character for each byte."""
import binascii as _binascii


def tob(text):
    return text.encode('latin-1') if isinstance(text, str) else bytes(text)


def tos(data):
    return data if isinstance(data, str) else bytes(data).decode('latin-1')


def b2a_hex(text):
    return _binascii.b2a_hex(tob(text)).decode('ascii')


hexlify = b2a_hex
'''

# Strings become bytes on their way to the library, and bytes strings on their way back.
BOUNDARY = '''   MAX_WIRE_LOG_DATA = 256

   debug = False

   def sendFrame(self, opcode, payload = b"", fin = True, rsv = 0, mask = None, payload_len = None, chopsize = None, sync = False):
      super().sendFrame(opcode = opcode, payload = tob(payload), fin = fin, rsv = rsv, mask = mask, payload_len = payload_len,
                        chopsize = chopsize, sync = sync)

   def sendMessage(self, payload, isBinary = False, fragmentSize = None, sync = False, doNotCompress = False):
      ## The suite's own autobahn, 0.10.9, returns silently; 22.7 raises.
      if self.state != WebSocketProtocol.STATE_OPEN:
         return
      super().sendMessage(tob(payload), isBinary, fragmentSize, sync, doNotCompress)

   def sendMessageFrameData(self, payload, sync = False):
      return super().sendMessageFrameData(tob(payload), sync)

   def sendCloseFrame(self, code = None, reasonUtf8 = None, isReply = False):
      super().sendCloseFrame(code, None if reasonUtf8 is None else tob(reasonUtf8), isReply)

   def onCloseFrame(self, code, reasonRaw):
      ## 0.10.9 keeps the code as received; 22.7 makes an invalid one 1000.
      result = super().onCloseFrame(code, reasonRaw)
      self.remoteCloseCode = code
      return result

'''

TIMER = '''class ExactTimer:
   """22.7 rounds times of handshakes down to whole seconds, so that one of 1 s may be nearly 0; 0.10.9 does not."""
   def call_later(self, delay, fun, *args, **kw):
      return reactor.callLater(delay, fun, *args, **kw)


class FuzzingFactory:
'''


def edit(name, *changes):
    """Replaces (old, new, number of places)."""
    path = ROOT / name
    text = path.read_text(encoding='utf-8')
    for old, new, count in changes:
        assert text.count(old) == count, (name, old, text.count(old))
        text = text.replace(old, new)
    path.write_text(text, encoding='utf-8')


def port_cases():
    for path in (ROOT / 'case').glob('*.py'):
        text = path.read_text(encoding='utf-8')
        text = re.sub(r'^import binascii$', 'from autobahntestsuite import py2bin as binascii', text, flags=re.M)
        text = text.replace('hashlib, binascii', 'hashlib\nfrom autobahntestsuite import py2bin as binascii')
        text = re.sub(r'\(object, Case,? *\)', '(Case,)', text)
        # The literals of a file in UTF-8 are the bytes of the file.
        text = re.sub(r'"[^"\n\\]*[^\x00-\x7f][^"\n\\]*"', lambda found: found[0] + ".encode('utf8').decode('latin-1')", text)
        path.write_text(text, encoding='utf-8')
    edit('case/__init__.py', ('from .case9_9_1 import *\n', '', 1))
    edit('case/case.py', ('return pickle.dumps(obj1) == pickle.dumps(obj2)', 'return obj1 == obj2', 1))
    edit('case/case6_x_x.py', ('v.validate(vss[:i])', "v.validate(vss[:i].encode('latin-1'))", 1))
    edit('case/case10_1_1.py', ('len(self.payload) / self.p', 'len(self.payload) // self.p', 1))
    edit(
        'case/case12_x_x.py',
        ("      msg = ''\n", "      msg = b''\n", 1),
        ('def onMessage(self, msg, binary):\n', "def onMessage(self, msg, binary):\n   msg = msg.encode('latin-1')\n", 1),
        # 0.10.9 also takes a window of 8 bits.
        ('from autobahn.websocket.compress import *\n',
         'from autobahn.websocket.compress import *\nfrom autobahn.websocket.compress_deflate import PerMessageDeflateMixin\n'
         'PerMessageDeflateMixin.WINDOW_SIZE_PERMISSIBLE_VALUES = list(range(8, 16))\n', 1),
    )
    path = ROOT / 'case/case12_x_x.py'
    text = path.read_text(encoding='utf-8')
    for direction in ('request', 'accept'):
        text = text.replace(direction + 'NoContextTakeover', direction + '_no_context_takeover')
        text = text.replace(direction + 'MaxWindowBits', direction + '_max_window_bits')
    path.write_text(text, encoding='utf-8')


def port_client():
    edit(
        'fuzzing.py',
        ('import os, json, binascii, time,', 'import os, json, time,', 1),
        ('import autobahn\nimport autobahntestsuite\n',
         'import autobahn\nimport autobahntestsuite\nfrom autobahntestsuite import py2bin as binascii\n'
         'from autobahntestsuite.py2bin import tob, tos\n', 1),
        ('   try:\n      if len(data) > maxlen', "   data = tob(data)\n   ellipses = b' ...'\n   try:\n      if len(data) > maxlen", 1),
        ("p = ''.join(payload)", "p = b''.join(payload)", 1),
        ('self.failConnection()', 'self._fail_connection()', 1),
        ('   MAX_WIRE_LOG_DATA = 256\n', BOUNDARY, 1),
        ('         self.runCase.onPong(payload)', '         self.runCase.onPong(tos(payload))', 1),
        ('         self.runCase.onMessage(msg, binary)', '         self.runCase.onMessage(tos(msg), binary)', 1),
        ('self.http_request_data if hasattr', 'tos(self.http_request_data) if hasattr', 1),
        ('self.http_response_data if hasattr', 'tos(self.http_response_data) if hasattr', 1),
        ('"localCloseReason": self.localCloseReason',
         '"localCloseReason": None if self.localCloseReason is None else tos(self.localCloseReason)', 1),
        ('(self, debug = debug, debugCodePaths = debug)', '(self)\n      self._batched_timer = ExactTimer()', 2),
        ('.encode("utf-8"))', ')', 1),
        ("ll.encode('utf8')", 'll', 1),
        ("report_filename), 'w')", "report_filename), 'w', encoding = 'utf-8', errors = 'surrogateescape')", 4),
        # 22.7 reads self.tcpNoDelay before it is there: Nagle's algorithm would join writes that a case has divided.
        ('      WebSocketClientProtocol.connectionMade(self)\n',
         '      WebSocketClientProtocol.connectionMade(self)\n      self.transport.setTcpNoDelay(self.tcpNoDelay)\n', 1),
        ('class FuzzingFactory:\n', TIMER, 1),
    )


(ROOT / 'py2bin.py').write_text(LOOKALIKE)
# A part of WAMP's tests, which Debian's autobahn does not have.
edit('wstest.py', ('from . import serializer\n', 'serializer = None\n', 1))
port_cases()
port_client()
