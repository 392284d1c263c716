#!/bin/sh
# lay-out.sh DIR: copies Apache::ASP's example pages of Debian to DIR/htdocs.
set -eu
from=/usr/share/doc/libapache-asp-perl/html
[ -d $from ] || { echo "$from: no such folder: libapache-asp-perl and its documentation must be installed" >&2; exit 1; }
cp -R $from/eg $from/apps "$1/htdocs"
# Debian compresses large files.
find "$1/htdocs" -name '*.gz' -exec gunzip {} +
