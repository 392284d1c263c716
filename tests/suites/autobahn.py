#!/usr/bin/env python3
"""Runs the Autobahn TestSuite against event pools, and compares the results with the committed ones.

    autobahn.py [--bless] [--all] [--only frames|mojolicious] [--cases '6.* 12.1.*'] [--keep FOLDER] PROGRAM

PROGRAM is the server. `frames` is an echo program of PAGI, `mojolicious` one of Mojolicious. A case that was OK and no longer
is fails the run. Without --all, 120 of the 216 cases of compression run: those of messages up to 32 KiB, without most of
their windows. The library is that of pkg/autobahn/install.
"""
import argparse
import collections
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

from results import committed, compare

HERE = pathlib.Path(__file__).resolve().parent
LIBRARY = HERE / '../../target/tools/autobahn'
CORE = ['1.*', '2.*', '3.*', '4.*', '5.*', '6.*', '7.*', '9.*', '10.*']
ALL_DEFLATE = ['12.*', '13.*']
SHORT_DEFLATE = ['%d.%d.%d' % (group, kind, case) for group, kinds in ((12, 5), (13, 7)) for kind in range(1, kinds + 1)
                 for case in (1, 2, 3, 4, 5, 6, 7, 8, 11, 12)]
# Good results; INFORMATIONAL is that of cases without a rule.
GOOD = {'OK', 'NON-STRICT', 'INFORMATIONAL'}

SITE = """ServerName localhost
ServerRoot "{dir}"
Listen 127.0.0.1:{port}
PidFile "{dir}/pid"
ErrorLog "{dir}/error.log"
PsgiMode event
StartServers 1
# The largest messages of the suite have 16 MiB.
WebSocketMaxMessage 32M
<Location />
PsgiApp "{dir}/{program}"
</Location>
"""


class Server:
    def __init__(self, program, mode, folder):
        self.folder = folder
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            self.port = free.getsockname()[1]
        (folder / 'echo.pl').write_text((HERE / 'autobahn' / (mode + '.pl')).read_text())
        (folder / 'site.conf').write_text(SITE.format(dir=folder, port=self.port, program='echo.pl'))
        self.output = open(folder / 'out', 'wb')
        self.child = subprocess.Popen([program, 'serve', '-f', str(folder / 'site.conf')], stdout=self.output, stderr=self.output)

    def wait_until_ready(self):
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(('127.0.0.1', self.port)).close()
                return
            except OSError:
                if self.child.poll() is not None or time.monotonic() > deadline:
                    sys.exit('the server did not start:\n' + (self.folder / 'out').read_text(errors='replace'))
                time.sleep(0.05)

    def stop(self):
        self.child.send_signal(signal.SIGTERM)
        try:
            self.child.wait(30)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        self.output.close()


def run(program, mode, cases, folder):
    """The results of the cases, by case."""
    server = Server(program, mode, folder)
    try:
        server.wait_until_ready()
        environment = dict(os.environ, PYTHONPATH=str(LIBRARY), PYTHONDONTWRITEBYTECODE='1')
        command = ['/usr/bin/python3', '-W', 'ignore', str(HERE / 'autobahn/client.py'), 'ws://127.0.0.1:%d/' % server.port,
                   ' '.join(cases), '']
        with open(folder / 'client.log', 'wb') as log:
            ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=log, env=environment, text=True, cwd=folder)
        if ran.returncode:
            sys.exit('the client failed:\n' + (folder / 'client.log').read_text(errors='replace')[-2000:])
    finally:
        server.stop()
    (folder / 'cases.jsonl').write_text(ran.stdout)
    return {case['id']: case for case in map(json.loads, ran.stdout.splitlines())}


def is_good(case):
    return case['behavior'] in GOOD and case['behaviorClose'] in GOOD


def by_group(names):
    """`frames/6.4.1` in the group `frames/6.4`, with the number 1."""
    groups = {}
    for name in names:
        group, _, last = name.rpartition('.')
        groups.setdefault(group, set()).add(int(last))
    return groups


def merged(before, results):
    """The good cases. Those that did not run are as they were."""
    ran, good = by_group(results), by_group(name for name, case in results.items() if is_good(case))
    groups = list(before) + [group for group in ran if group not in before]
    return {group: good.get(group, set()) | before.get(group, set()) - ran.get(group, set()) for group in groups}


def print_results(mode, results):
    kinds = collections.Counter(case['behavior'] for case in results.values())
    good = sum(map(is_good, results.values()))
    print('%s: %d of %d cases are good (%s)' % (mode, good, len(results), ', '.join('%s %d' % kind for kind in kinds.most_common())))
    for name, case in results.items():
        if not is_good(case):
            why = case['result'] if case['behavior'] not in GOOD else case['resultClose']
            print('    %-9s %s, %s, close code %s: %s' % (name, case['behavior'], case['behaviorClose'], case['remoteCloseCode'], why))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--bless', action='store_true')
    parser.add_argument('--all', action='store_true')
    parser.add_argument('--only', choices=('frames', 'mojolicious'))
    parser.add_argument('--cases')
    parser.add_argument('--keep', help='a folder for the logs and the results of each case')
    parser.add_argument('program')
    asked = parser.parse_args()
    cases = asked.cases.split() if asked.cases else CORE + (ALL_DEFLATE if asked.all else SHORT_DEFLATE)
    ran = {}
    with tempfile.TemporaryDirectory(prefix='cameleer-autobahn-') as scratch:
        for mode in [asked.only] if asked.only else ['frames', 'mojolicious']:
            folder = pathlib.Path(asked.keep or scratch).resolve() / mode
            folder.mkdir(parents=True, exist_ok=True)
            for each in (folder.parent, folder):
                each.chmod(0o755)
            results = run(os.path.abspath(asked.program), mode, cases, folder)
            print_results(mode, results)
            ran.update({'%s/%s' % (mode, name): case for name, case in results.items()})
    before = committed(HERE / 'autobahn.txt')
    sys.exit(0 if compare('autobahn', before, merged(before, ran), asked.bless, 'autobahn') else 1)


if __name__ == '__main__':
    main()
