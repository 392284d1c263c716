"""Results of external test suites, and their comparison with the committed ones."""
import os, re

HERE = os.path.dirname(os.path.abspath(__file__))


def ok_in(tap):
    """The numbers of the subtests that are ok in the output of `prove -v`; one without a number follows the last. Behind the
    plan's end stands what prove says of the whole file."""
    plan = re.search(r'(?m)^1\.\.(\d+)', tap)
    ok, number = set(), 0
    for test in re.finditer(r'(?m)^(not )?ok\b(?: (\d+))?', tap):
        number = int(test[2]) if test[2] else number + 1
        if not test[1]:
            ok.add(number)
    return {number for number in ok if not plan or number <= int(plan[1])}


def ranges(numbers):
    """Formats {1, 2, 3, 7} as `1-3 7`."""
    runs = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ' '.join(str(a) if a == b else '%d-%d' % (a, b) for a, b in runs)


def numbers(text):
    pairs = (word.split('-') for word in text.split())
    return {number for pair in pairs for number in range(int(pair[0]), int(pair[-1]) + 1)}


def committed(path):
    if not os.path.exists(path):
        return {}
    with open(path) as lines:
        named = (line.split(None, 1) for line in lines if line.strip() and not line.startswith('#'))
        return {line[0]: numbers(line[1] if len(line) > 1 else '') for line in named}


def write(path, ok, target):
    with open(path, 'w') as out:
        out.write('# The subtests that are ok, by file. Written by `make %s BLESS=1`.\n' % target)
        out.writelines(('%s %s' % (file, ranges(ok[file]))).strip() + '\n' for file in ok)


def compare(name, before, now, bless, target='suites'):
    """Prints the changes; returns whether no subtest has become worse."""
    path = os.path.join(HERE, name + '.txt')
    worse = {file: ranges(ok - now.get(file, set())) for file, ok in before.items() if ok - now.get(file, set())}
    better = {file: ranges(ok - before.get(file, set())) for file, ok in now.items() if ok - before.get(file, set())}
    for what, changes in (('no longer ok', worse), ('ok now', better)):
        for file, which in changes.items():
            print('%s: %s: %s %s' % (name, what, file, which))
    if bless and (worse or better):
        write(path, now, target)
        print('written: ' + path)
    elif better:
        print('%s: record the improvements with `make %s BLESS=1`' % (name, target))
    return bless or not worse
