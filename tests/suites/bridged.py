#!/usr/bin/env python3
"""Runs tests that others wrote for event programs, with Cameleer in front of their applications.

    bridged.py [--bless] [--only PATTERN] [--keep FOLDER] PROGRAM mojolicious|pagi-server FOLDER

PROGRAM is the server, FOLDER the suite as unpacked. The applications of these tests are closures that share variables with their tests.
So they stay in the process of the test, and the event worker passes its streams on to it (bridge/EventPool.pm): clients
speak to our front, and our Perl modules call the application. The tests themselves are as they are. A subtest that was ok
and no longer is fails the run.
"""
import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from bridged_left_out import LEFT_OUT
from results import committed, compare, ok_in

HERE = pathlib.Path(__file__).resolve().parent
# What a test is loaded with, and the pattern of its files: those that start a server of the bridged class.
SUITES = {
    'mojolicious': ('MojoDaemon', r'Test::Mojo|Mojo::Server::Daemon|UserAgent', 'mojolicious'),
    'pagi-server': ('PAGI::Server', r'PAGI::Server->new', 'pagi'),
}
# Longest time of a file, in seconds.
FILE_SECONDS = 120


def files(suite, folder):
    pattern = re.compile(SUITES[suite][1])
    found = sorted(path.relative_to(folder).as_posix() for path in (folder / 't').rglob('*.t') if pattern.search(path.read_text('latin-1')))
    return [name for name in found if name not in LEFT_OUT[suite] and not name.startswith('t/http2/')]


def run(suite, folder, program, name, keep):
    """The ok subtests of a file. Output goes to `keep`."""
    library = HERE / '../../perl/lib'
    # Tests of PAGI-Server also use PAGI-Tools, from a checkout beside its own.
    paths = [HERE / 'bridge', library, folder / 'lib', folder.parent / 'PAGI-Tools/lib']
    environment = dict(os.environ, CAMELEER=program, PERL5LIB=':'.join(str(path.resolve()) for path in paths), RELEASE_TESTING='1')
    command = ['perl', '-M' + SUITES[suite][0], name]
    output = keep / (name.replace('/', '-') + '.out')
    with open(output, 'wb') as out, tempfile.TemporaryDirectory(prefix='cameleer-bridged-') as scratch:
        os.chmod(scratch, 0o755)
        child = subprocess.Popen(command, cwd=folder, env=environment | {'TMPDIR': scratch}, stdin=subprocess.DEVNULL, stdout=out,
                                 stderr=subprocess.STDOUT, start_new_session=True)
        try:
            child.wait(FILE_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()
    text = output.read_text(errors='replace')
    return ok_in(text), len(re.findall(r'(?m)^not ok', text)), child.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--bless', action='store_true')
    parser.add_argument('--only', default='')
    parser.add_argument('--keep', help='a folder for the output of each file')
    parser.add_argument('program')
    parser.add_argument('suite', choices=SUITES)
    parser.add_argument('folder')
    asked = parser.parse_args()
    folder, program = pathlib.Path(asked.folder).resolve(), os.path.abspath(asked.program)
    if not (folder / 't').is_dir():
        sys.exit('%s: there is no folder t' % folder)
    names = [name for name in files(asked.suite, folder) if re.search(asked.only, name)]
    with tempfile.TemporaryDirectory(prefix='cameleer-bridged-') as scratch, ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
        keep = pathlib.Path(asked.keep or scratch)
        keep.mkdir(parents=True, exist_ok=True)
        ran = dict(zip(names, pool.map(lambda name: run(asked.suite, folder, program, name, keep), names)))
    for name, (ok, failed, code) in ran.items():
        if failed or code:
            print('%s: %d ok, %d not ok, exit status %d' % (name, len(ok), failed, code))
    print('%s: %d subtests of %d files are ok, %d are not; %d files are left out' % (
        asked.suite, sum(len(ok) for ok, _, _ in ran.values()), len(ran), sum(failed for _, failed, _ in ran.values()),
        len(LEFT_OUT[asked.suite])))
    before = committed(HERE / (asked.suite + '.txt'))
    now = before | {name: ok for name, (ok, _, _) in ran.items()}
    gone = [] if asked.only else [name for name in before if name not in ran]
    now = {name: set() if name in gone else ok for name, ok in now.items()}
    sys.exit(0 if compare(asked.suite, before, now, asked.bless, SUITES[asked.suite][2]) else 1)


if __name__ == '__main__':
    main()
