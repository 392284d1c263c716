#!/usr/bin/env python3
"""Takes the methods of the API away, one at a time, and runs the tests that tools/compat/src/rows.txt names for each: one that all
of them pass without is not driven by them.

    tests/mutants/methods.py [NAME ...]      # all rows of methods, or rows whose Package::name contains one of the names

Needs a built target/debug/cameleer and its tests (`cargo test --no-run`). No other test may run in this tree meanwhile: the
changed library stands beside the program. Exit 1 when a method was not missed. What does nothing, or is always undef, never is.
"""
import json, os, re, shutil, subprocess, sys, tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "target/debug/cameleer"
BESIDE = ROOT / "target/debug/share/cameleer/perl"
NOT_METHODS = {"Directives", "Phases", "Modules", "Variables", "What the documents do and calculate", "Apache::Constants"}
# Methods that do nothing, or only return undef: no test can notice their absence.
NEVER_MISSED = {"Apache::BINMODE", "Apache::CLOSE", "Apache::get_remote_logname", "Apache::Connection::remote_logname"}


def rows():
    section = ""
    for line in (ROOT / "tools/compat/src/rows.txt").read_text().splitlines():
        if line.startswith("## "):
            section = line[3:]
        elif line and not line.startswith("#") and section not in NOT_METHODS:
            name, _, rest = re.split(r"\s{2,}", line, maxsplit=2)
            yield f"{section}::{name}", rest.split(" ; ")[0].strip().split(", ")


def without(method, library):
    """A copy of the library in which the method, wherever it is defined, does nothing."""
    package, name = method.rsplit("::", 1)
    names = {method, f"Apache::{name}"} if package in ("Apache::File", "Apache::URI", "Apache::SubProcess") else {method}
    gone = "".join(f"*{{'{each}'}} = sub {{ return }} if defined &{{'{each}'}};" for each in sorted(names))
    shutil.copytree(ROOT / "perl/lib", library)
    for file in library.rglob("*.pm"):
        text = file.read_text()
        if re.search(r"^\s*package (?:Apache|B)\b", text, re.M):
            file.write_text(text.replace("\n1;\n", "\n{ no strict 'refs'; no warnings; " + gone + " }\n1;\n", 1))


def passes(test, library, rust):
    if test.endswith(".t"):
        env = dict(os.environ, CAMELEER=str(PROGRAM), CAMELEER_PERL_LIB=str(library))
        return subprocess.run(["prove", "-Q", ROOT / test], env=env, capture_output=True, timeout=300).returncode == 0
    BESIDE.parent.mkdir(parents=True, exist_ok=True)
    BESIDE.symlink_to(library)
    try:
        return subprocess.run([rust, "--exact", test], cwd=ROOT, capture_output=True, timeout=300).returncode == 0
    finally:
        BESIDE.unlink()


def main(wanted):
    build = ["cargo", "test", "--locked", "--test", "cameleer", "--no-run", "--message-format=json"]
    said = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    rust = [json.loads(line).get("executable") for line in said if '"name":"cameleer"' in line and '"kind":["test"]' in line][-1]
    survived = 0
    for method, tests in rows():
        if method in NEVER_MISSED or (wanted and not any(name in method for name in wanted)):
            continue
        with tempfile.TemporaryDirectory() as folder:
            library = Path(folder) / "lib"
            without(method, library)
            if all(passes(test, library, rust) for test in tests):
                survived += 1
                print(f"{method}: not missed by {', '.join(tests)}", flush=True)
    print(f"{survived} methods that nobody missed")
    return survived > 0


sys.exit(main(sys.argv[1:]))
