#!/bin/sh
# One-time change to the administrator's file /etc/usemod-wiki/config (as root):
# when USEMOD_DATADIR is set, keep the wiki's data there.  The program itself is
# not touched.  Running it twice changes nothing.
set -eu
f=/etc/usemod-wiki/config
grep -q USEMOD_DATADIR $f && exit 0
cat >> $f <<'EOF'

if (($ENV{USEMOD_DATADIR} || '') =~ m{^(/[-\w./]+)$}) {
  $DataDir = $1;
  ($PageDir, $HtmlDir, $UserDir, $KeepDir, $TempDir) =
    map { "$DataDir/$_" } qw(page html user keep temp);
  ($LockDir, $RcFile, $RcOldFile, $IndexFile, $EmailFile) =
    ("$TempDir/lock", map { "$DataDir/$_" } qw(rclog oldrclog pageidx emails));
}
1;
EOF
