#!/usr/bin/env python3
"""Runs external test suites and compares their results with the committed ones.

    run.py [--bless] [--all] PROGRAM SUITES

PROGRAM is the server, SUITES a folder with one subfolder per suite. A subtest that was ok and no longer is fails the run.
Subtests that are newly ok are listed; --bless commits them to the result files.
The suites run at the same time, mod_perl 2's in parts.
"""
import argparse, os, re, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

from results import committed, compare, ok_in

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = os.path.join(HERE, '..', '..', 'perl', 'lib')


def mod_perl_1(folder, program, scratch):
    """Runs mod_perl 1.31's own tests; returns the numbers of ok subtests by file."""
    command = [sys.executable, os.path.join(folder, 'run.py'), '--server', program + ' serve -f {conf}',
               '--perl-lib', os.path.abspath(LIBRARY), '--keep', scratch]
    said = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    row = re.search(r'(?m)^\(start\) +(\d+) .*$', said)
    if not row:
        sys.exit('the suite did not start:\n' + said)
    failed = {int(number) for number in re.findall(r'not ok (\d+):', row[0])}
    ok = {'(start)': set(range(1, int(row[1]) + 1)) - failed}
    for file in re.findall(r'(?m)^(\w+/[\w-]+\.t) ', said):
        with open(os.path.join(scratch, 'mod_perl-1.31/t/logs', file.replace('/', '-') + '.out'), encoding='latin-1') as out:
            ok[file] = ok_in(out.read())
    print(said.strip().split('\n')[-1])
    return ok


# Number of tests of mod_perl 2 whose number of subtests depends on the configuration or the environment, with the
# number of stable subtests.
FIXED = {'apache/conftree.t': 8, 'api/module.t': 12, 'directive/cmdparms.t': 11, 'modperl/env.t': 23}
# A flush in the middle of a compressed response: the pieces depend on timing.
LEFT_OUT = {'registry/flush.t'}


def mod_perl_2(folder, program, scratch):
    """Runs mod_perl 2.0.12's own tests as nobody, with the server installed in a folder that nobody can read."""
    home = os.path.join(scratch, 'installed')
    installed = dict(os.environ, PROGRAM=program, PREFIX=home, PERLLIB=home + '/perl5', SYSCONFDIR=home + '/etc')
    subprocess.run(['sh', os.path.join(HERE, '../../pkg/install-files'), 'install'], env=installed, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(['sh', os.path.join(HERE, 'stage'), program, scratch + '/stage'], check=True)
    subprocess.run(['chmod', '-R', 'a+rX', home, scratch + '/stage'], check=True)
    before = committed(os.path.join(HERE, 'mod_perl-2.txt'))
    parts = parts_of(before, 2 * (os.cpu_count() or 1))

    def run_part(number):
        return run_mod_perl_2(folder, home, scratch, 'part%d' % number, ['--only', parts[number], '--port', str(PORTS + 1500 * number)])

    ok = {}
    with ThreadPoolExecutor(len(parts)) as pool:
        for of_part in pool.map(run_part, range(len(parts))):
            ok.update(of_part)
    # Tests that fail on a busy machine are repeated alone.
    worse = [file for file, were in before.items() if were - ok.get(file, set())]
    if worse:
        again = run_mod_perl_2(folder, home, scratch, 'again', ['--isolate', '--only', '^(%s)$' % '|'.join(map(re.escape, worse))])
        ok.update({file: ok.get(file, set()) | now for file, now in again.items()})
    return {file: numbers for file, numbers in ok.items() if file not in LEFT_OUT}


# First port of the first part. A part takes some 60 ports for each of its groups.
PORTS = 13000


def parts_of(files, most):
    """Patterns for the suite's --only. The tests of a folder share a server, so that a folder is in one part. The first part also has
    the folders that are not committed yet."""
    folders = {}
    for file in files:
        folders.setdefault(file.split('/')[0], []).append(file)
    parts = [[] for _ in range(max(1, min(most, len(folders))))]
    for folder in sorted(folders, key=lambda folder: -len(folders[folder])):
        min(parts, key=lambda part: sum(len(folders[of]) for of in part)).append(folder)
    others = [folder for part in parts[1:] for folder in part]
    return ['^(?!(%s)/)' % '|'.join(others) if others else ''] + ['^(%s)/' % '|'.join(part) for part in parts[1:]]


def run_mod_perl_2(folder, home, scratch, name, more):
    """Returns the numbers of ok subtests by file."""
    table = os.path.join(scratch, name + '.tsv')
    command = [sys.executable, os.path.join(folder, 'run.py'), '--server', home + '/bin/cameleer serve -f {conf} -d {root} {defs}',
               '--perl5lib', scratch + '/stage', '--tier', '1,2', '--work', os.path.join(scratch, name), '--out', table, *more]
    said = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    if not os.path.exists(table):
        sys.exit('the suite did not start:\n' + said)
    print(said.strip().split('\n')[-1])
    with open(table) as lines:
        rows = [line.rstrip('\n').split('\t') for line in lines if not line.startswith('#')]
    return {row[0]: ok_of(row[0], row[2]) for row in rows if len(row) > 2}


def ok_of(file, outcome):
    """`o3n1o2` is {1, 2, 3, 5, 6}."""
    ok, at = set(), 0
    for kind, count in re.findall(r'([a-z-])(\d+)', outcome):
        if kind == 'o':
            ok.update(range(at + 1, at + int(count) + 1))
        at += int(count)
    return {number for number in ok if number <= FIXED.get(file, number)}


SUITES = {'mod_perl-1': mod_perl_1, 'mod_perl-2': mod_perl_2}
# Suites that take minutes longer: they run only if all are requested.
LONG = {'mod_perl-2'}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--bless', action='store_true')
    parser.add_argument('--all', action='store_true')
    parser.add_argument('program')
    parser.add_argument('suites')
    asked = parser.parse_args()
    names = [name for name in SUITES if asked.all or name not in LONG]

    def run(name):
        folder = os.path.join(asked.suites, name)
        if not os.path.isdir(folder):
            sys.exit('%s: there is no such suite' % folder)
        with tempfile.TemporaryDirectory(prefix='cameleer-suite-') as scratch:
            os.chmod(scratch, 0o755)
            return SUITES[name](folder, os.path.abspath(asked.program), scratch)

    with ThreadPoolExecutor(len(names)) as pool:
        ran = dict(zip(names, pool.map(run, names)))
    fine = [compare(name, committed(os.path.join(HERE, name + '.txt')), ran[name], asked.bless) for name in names]
    sys.exit(0 if all(fine) else 1)


if __name__ == '__main__':
    main()
