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
from asking import answers_in
from cases import CaseError, CaseFile

HERE = os.path.dirname(os.path.abspath(__file__))


def compare(file, command, port, options):
    """Prints how many cases of a file are answered as the file says; returns this number and that of all."""
    answers, broken = answers_in(file, command, port)
    cases = [case for site in file.sites for case in site.cases]
    passed, reason = 0, None
    for case in cases:
        expected, found = [item.lines for item in case.answers()], answers.get(case.name)
        passed += expected == found
        if expected == found:
            if options.passed and not case.is_control:
                print(f"  passed {case.place}: {case.title}")
        elif options.failed or options.why:
            if broken.get(case.name, reason) != reason:
                reason = broken[case.name]
                print(f"  {reason.strip()}")
            print(f"  failed {case.place}: {case.title}")
            if options.why and found is not None:
                print_difference(expected, found)
    print(f"{os.path.relpath(file.path, HERE)}: {passed} of {len(cases)}", flush=True)
    return passed, len(cases)


def print_difference(expected, found):
    lines = difflib.unified_diff(sum(expected, []), sum(found, []), lineterm="", n=9)
    print("".join(f"      {line}\n" for line in list(lines)[2:]), end="")


def renew(file, port):
    """Writes httpd's answers into the file."""
    answers, _ = answers_in(file, None, port)
    text = file.with_answers(answers)
    with open(file.path, "w", encoding="utf-8") as out:
        out.write(text)
    print(f"{os.path.relpath(file.path, HERE)}: {len(answers)} cases", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--compare", metavar="COMMAND")
    parser.add_argument("--failed", action="store_true")
    parser.add_argument("--why", action="store_true")
    parser.add_argument("--only", metavar="TEXT", help="with --check or --compare: cases whose title contains this")
    parser.add_argument("--passed", action="store_true", help="list the cases that pass and are not marked `control`")
    options = parser.parse_args()
    os.umask(0o022)
    port = backend.start()
    paths = options.files or sorted(glob.glob(f"{HERE}/**/*.txt", recursive=True))
    files = [CaseFile(os.path.relpath(path)) for path in paths]
    if not (options.check or options.compare):
        for file in files:
            renew(file, port)
        return
    for site in [site for file in files for site in file.sites] if options.only else []:
        site.cases = [case for case in site.cases if options.only in case.title]
    counts = [compare(file, options.compare, port, options) for file in files]
    passed, total = (sum(numbers) for numbers in zip(*counts))
    print(f"{passed} passed, {total - passed} failed")
    sys.exit(passed != total)


try:
    main()
except CaseError as error:
    sys.exit(f"record.py: {error}")
