"""The text format of the cases: reads a file of sites and cases, and writes it again with new answers.

README.md describes the format.
"""
import re

# Keywords of a site or a case that take an indented block.
BLOCKS = {"conf", "file", "bytes", "program", "it", "every", "accepts", "refuses"}
SIMPLE = {"module", "site", "case", "ask", "answer", "show", "mask", "time", "mode", "owner", "link", "folder", "run", "control"}
INDENT = "    "


class CaseError(Exception):
    pass


class Item:
    """A keyword line with the lines that belong to it."""

    def __init__(self, keyword, argument, place):
        self.keyword, self.argument, self.place = keyword, argument, place
        self.block, self.request_fields = [], []
        self.lines = []

    def text(self):
        """The block as text, or the argument if there is no block."""
        return "".join(line + "\n" for line in self.block)


class Case:
    def __init__(self, item, number):
        self.title, self.place = item.argument, item.place
        self.name = f"case{number}"
        self.items = []
        self.is_control = False

    def trials(self):
        """Configurations that the server must start or refuse."""
        return [item for item in self.items if item.keyword in ("accepts", "refuses")]

    def asks(self, site):
        """The requests of the case, or those that each case of the site makes."""
        if self.trials():
            return []
        own = [item for item in self.items if item.keyword == "ask"]
        return own or [item for item in site.every if item.argument.startswith("ask ")]

    def answers(self):
        return [item for item in self.items if item.keyword == "answer"]

    def it(self):
        for item in self.items:
            if item.keyword == "it":
                return item.text() if item.block else item.argument
        return None


class Site:
    def __init__(self, title, place):
        self.title, self.place = title, place
        self.items, self.every, self.cases = [], [], []

    def own_items(self):
        """What the cases of the site have beside the site's own lines."""
        lines = [Item(*item.argument.partition(" ")[::2], item.place) for item in self.every]
        return lines + [item for case in self.cases for item in case.items]


class CaseFile:
    def __init__(self, path):
        self.path = path
        self.modules, self.sites, self.lines = [], [], []
        with open(path, encoding="utf-8") as source:
            self.read(source.read().split("\n"))

    def read(self, lines):
        item, number = None, 0
        for at, line in enumerate(lines, 1):
            place = f"{self.path}:{at}"
            if line.startswith(INDENT):
                if item is None:
                    raise CaseError(f"{place}: an indented line without a keyword before it")
                # Empty lines inside a block have been stored as lines of their own.
                while self.lines and self.lines[-1] == "" and item.lines:
                    self.lines.pop()
                    item.block.append("")
                    item.lines.append("")
                item.block.append(line[len(INDENT):])
                item.lines.append(line)
            elif line == "" or line.startswith("#"):
                self.lines.append(line)
            elif line[0] in "<>":
                if line[0] == ">":
                    item.request_fields.append(line[2:])
                item.lines.append(line)
            else:
                keyword, _, argument = line.partition(" ")
                if keyword not in BLOCKS | SIMPLE:
                    raise CaseError(f"{place}: unknown keyword \"{keyword}\"")
                item = Item(keyword, argument, place)
                item.lines.append(line)
                self.lines.append(item)
                number += keyword == "case"
                self.place_item(item, number)
        while self.lines and self.lines[-1] == "":
            self.lines.pop()

    def place_item(self, item, number):
        site = self.sites[-1] if self.sites else None
        if item.keyword == "module":
            self.modules += item.argument.split()
        elif item.keyword == "site":
            self.sites.append(Site(item.argument, item.place))
        elif site is None:
            raise CaseError(f"{item.place}: {item.keyword} before the first site")
        elif item.keyword == "case":
            site.cases.append(Case(item, number))
        elif item.keyword == "control":
            site.cases[-1].is_control = True
        elif item.keyword == "every":
            site.every.append(item)
        else:
            (site.cases[-1] if site.cases else site).items.append(item)

    def with_answers(self, answers):
        """The text of the file with `answers`: the lines of the responses by case name, one list for each request."""
        text, gap, pending, number = [], [], [], 0
        for line in self.lines:
            if isinstance(line, str):
                gap.append(line)
                continue
            if line.keyword == "answer":
                continue
            if line.keyword in ("case", "site"):
                # A case without a request of its own ends with the answers to its site's.
                text += sum(pending, [])
                pending = []
            text += gap + line.lines
            gap = []
            if line.keyword == "case":
                number += 1
                pending = list(answers[f"case{number}"])
            elif line.keyword in ("ask", "accepts", "refuses") and pending:
                text += pending.pop(0)
        return "\n".join(text + sum(pending, []) + gap) + "\n"


def escaped(body):
    """The lines that stand for `body`: a backslash at the end of the last line says that no newline ends it."""
    text = body.decode("utf-8", "backslashreplace") if is_text(body) else body.decode("latin-1")
    lines = text.split("\n")
    is_ended = lines[-1] == ""
    if is_ended:
        lines.pop()
    written = []
    for line in lines:
        line = line.replace("\\", "\\\\")
        keep = (lambda c: c.isprintable() or c == "\t") if is_text(body) else (lambda c: " " <= c <= "~" or c == "\t")
        line = "".join(c if keep(c) else f"\\x{ord(c):02x}" if ord(c) < 256 else f"\\u{ord(c):04x}" for c in line)
        line = re.sub(r"[ \t]$", lambda last: f"\\x{ord(last[0]):02x}", line)
        written.append(line)
    if body and not is_ended:
        written[-1] += "\\"
    if body and written[-1] == "":
        written[-1] = "\\n\\"
    return written


def is_text(body):
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def unescaped(lines):
    """The bytes for a `bytes` block, whose lines may have \\xNN and \\n, and a backslash at their end against the newline."""
    text = "".join(line[:-1] if re.search(r"(?<!\\)(\\\\)*\\$", line) else line + "\n" for line in lines)
    return re.sub(
        rb"\\(x[0-9a-f]{2}|n|r|\\)",
        lambda found: {b"n": b"\n", b"r": b"\r", b"\\": b"\\"}.get(found[1]) or bytes([int(found[1][1:], 16)]),
        text.encode(),
    )
