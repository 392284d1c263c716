#!/usr/bin/env python3
"""Asks Apache's httpd each case, and writes what it answers into the files: `record.py [FILE ...]` (needs apache2, root).

    record.py --check [FILE ...]             fails unless httpd still answers as the files say; writes nothing
    record.py --compare COMMAND [FILE ...]   serves each site with COMMAND and counts the cases that it answers as httpd;
                                             @CONF@, @ROOT@ and @PORT@ stand for the configuration, its folder, its port
    record.py ... --failed                   lists the cases that fail; with --why also their answers
"""
import argparse
import difflib
import glob
import os
import sys

sys.dont_write_bytecode = True

import backend
import credentials
from cases import CaseError, CaseFile
from client import answer_lines, ask
from site_folder import Running

HERE = os.path.dirname(os.path.abspath(__file__))


def settings(site, case, keyword):
    items = [item for item in site.items + case.items if item.keyword == keyword]
    return [item.argument for item in items]


def with_credentials(port, method, target, fields):
    """The headers with the answer to the server's challenge, if one of them asks for it."""
    others = [field for field in fields if not credentials.PATTERN.search(field)]

    def challenge():
        return dict(ask(port, method, target, others, b"").fields).get("WWW-Authenticate", "")

    return [credentials.filled(field, method, target, challenge) for field in fields]


def answers_of(case, site, running):
    """The answers to the requests of a case: a list of lines for each."""
    shown = [name for argument in settings(site, case, "show") for name in argument.split()]
    masks = [argument.rsplit(" ", 1) for argument in settings(site, case, "mask")]
    answers = []
    for item in case.asks(site):
        argument = item.argument.removeprefix("ask ") if item.keyword == "every" else item.argument
        method, _, target = running.fill(argument, running.of_case(case)).partition(" ")
        fields = [running.fill(field, running.of_case(case)) for field in item.request_fields]
        try:
            fields = with_credentials(running.port, method, target, fields)
            response = ask(running.port, method, target, fields, item.text().encode())
            answers.append(answer_lines(response, shown, masks, running.places + [(case.name, "@CASE@")]))
        except (OSError, ValueError) as error:
            answers.append([f"answer none: {type(error).__name__}"])
        except Exception as error:  # http.client's own errors share no useful base with OSError.
            answers.append([f"answer none: {type(error).__name__}"])
    return answers


def answers_together(site, cases, file, command, port):
    """The answers to `cases` by name, from one server with the lines of these cases."""
    asking = [case for case in cases if not case.trials()]
    answers = {}
    if asking:
        with Running(site, asking, file.modules, command, port) as running:
            answers = {case.name: answers_of(case, site, running) for case in asking}
    for case in cases:
        if case.trials():
            answers[case.name] = [started(item, site, file.modules, command, port) for item in case.trials()]
    return answers


def started(item, site, modules, command, port):
    """Whether the server starts with the site's lines and those of `item`."""
    try:
        with Running(site, [], modules, command, port, item):
            return ["answer started"]
    except CaseError:
        return ["answer refused"]


def answers_in(file, command, port):
    """The answers to all cases of a file by case name; for a site that does not start, the reason by its cases."""
    answers, broken = {}, {}
    for site in file.sites:
        try:
            answers |= answers_together(site, site.cases, file, command, port)
        except CaseError as error:
            if command is None:
                raise
            # Another server may lack a directive of one case only.
            for case in site.cases:
                try:
                    if not any(item.keyword == "conf" for item in site.own_items()):
                        raise error
                    answers |= answers_together(site, [case], file, command, port)
                except CaseError as reason:
                    broken[case.name] = str(reason)
    return answers, broken


def compare(file, command, port, options):
    """Prints how many cases of a file are answered as the file says; returns this number and that of all."""
    answers, broken = answers_in(file, command, port)
    passed = total = 0
    for site in file.sites:
        reported = None
        for case in site.cases:
            expected, found = [item.lines for item in case.answers()], answers.get(case.name, [])
            total += 1
            is_same = case.name not in broken and expected == found
            passed += is_same
            if is_same and options.passed and not case.is_control:
                print(f"  passed {case.place}: {case.title}")
            if is_same or not (options.failed or options.why):
                continue
            if case.name in broken and broken[case.name] != reported:
                reported = broken[case.name]
                print(f"  {reported.strip()}")
            print(f"  failed {case.place}: {case.title}")
            if options.why and case.name not in broken:
                diff = difflib.unified_diff(sum(expected, []), sum(found, []), "expected", "found", lineterm="", n=9)
                print("".join(f"      {line}\n" for line in list(diff)[2:]), end="")
    print(f"{os.path.relpath(file.path, HERE)}: {passed} of {total}", flush=True)
    return passed, total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--compare", metavar="COMMAND")
    parser.add_argument("--failed", action="store_true")
    parser.add_argument("--why", action="store_true")
    parser.add_argument("--passed", action="store_true", help="list the cases that pass and are not marked `control`")
    options = parser.parse_args()
    port = backend.start()
    paths = options.files or sorted(glob.glob(f"{HERE}/**/*.txt", recursive=True))
    counts = []
    for path in paths:
        file = CaseFile(os.path.relpath(path))
        if options.check or options.compare:
            counts.append(compare(file, options.compare, port, options))
            continue
        answers, _ = answers_in(file, None, port)
        text = file.with_answers(answers)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        print(f"{os.path.relpath(path, HERE)}: {sum(len(site.cases) for site in file.sites)} cases", flush=True)
    passed, total = sum(count for count, _ in counts), sum(count for _, count in counts)
    if counts:
        print(f"{passed} passed, {total - passed} failed")
    sys.exit(1 if passed != total else 0)


try:
    main()
except CaseError as error:
    sys.exit(f"record.py: {error}")
