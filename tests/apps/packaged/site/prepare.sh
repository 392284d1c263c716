#!/bin/sh
# prepare.sh DIR [PORT] - lay out, under DIR, everything the real-input site
# needs.  Safe to run again: an existing, complete DIR is only refreshed.
# Takes about a second.  Nothing outside DIR is touched.
set -eu
[ $# -ge 1 ] || { echo "usage: $0 DIR [PORT]" >&2; exit 2; }
HERE=$(cd "$(dirname "$0")" && pwd)
PORT=${2:-8080}
mkdir -p "$1"
DIR=$(cd "$1" && pwd)
export HOME="$DIR" LC_ALL=C TZ=UTC
unset CVSROOT CVS_RSH GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE 2>/dev/null || :
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
umask 022
cd "$DIR"

# ---- sample files -----------------------------------------------------------
# A 16-bit-safe binary: every byte value four times, so that any newline or
# UTF-8 translation on the way out changes the checksum.
mkdir -p src htdocs state cvslock home tmp
perl -e 'binmode STDOUT; print pack("C*", (0..255) x 4)' > src/bytes.bin
cp /usr/share/gitweb/static/git-logo.png src/logo.png
printf 'static file served by the front\n' > htdocs/plain.txt

# ---- git repository (gitweb) --------------------------------------------------
if [ ! -f git/demo.git/HEAD ] || [ ! -f git/.done ]; then
  rm -rf git work; mkdir -p git
  git init -q -b main work
  (
    cd work
    git config user.name 'Ana Ruiz'; git config user.email ana@example.org
    commit() {
      GIT_AUTHOR_DATE="$1 +0000" GIT_COMMITTER_DATE="$1 +0000" \
      GIT_AUTHOR_NAME='Ana Ruiz' GIT_AUTHOR_EMAIL=ana@example.org \
      GIT_COMMITTER_NAME='Ana Ruiz' GIT_COMMITTER_EMAIL=ana@example.org \
        git commit -q -m "$2"
    }
    mkdir -p doc img
    printf 'line one\nline two\nline three\n' > doc/readme.txt
    cp ../src/logo.png img/logo.png
    git add .; commit '2021-03-01T10:00:00' 'First import'
    printf 'line one\nline 2\nline three\nline four\n' > doc/readme.txt
    cp ../src/bytes.bin img/bytes.bin
    printf 'caf\303\251 \342\202\254 \303\261and\303\272\n' > doc/utf8.txt
    git add .; commit '2021-03-02T11:30:00' "Caf$(printf '\303\251'): accents and bytes"
    GIT_COMMITTER_NAME='Ana Ruiz' GIT_COMMITTER_EMAIL=ana@example.org \
    GIT_COMMITTER_DATE='2021-03-02T12:00:00 +0000' git tag -a -m 'first tag' v1.0
  )
  git clone -q --bare work git/demo.git
  rm -rf work
  printf 'Demonstration repository\n' > git/demo.git/description
  git -C git/demo.git config gitweb.owner 'Ana Ruiz'
  # gitweb runs as the workers' user
  touch git/.done
fi
# git refuses repositories of another owner; gitweb.conf below points here.
printf '[safe]\n\tdirectory = *\n' > gitconfig
cat > gitweb.perl <<EOF
our \$projectroot = '$DIR/git';
our \$site_name = 'Cameleer real input';
our @stylesheets = ('/gitweb-static/gitweb.css');
our \$logo = '/gitweb-static/git-logo.png';
our \$favicon = '/gitweb-static/git-favicon.png';
our \$javascript = '/gitweb-static/gitweb.js';
our @diff_opts = ();
our \$maxload = undef;
\$feature{'snapshot'}{'default'} = ['tgz', 'zip', 'tbz2'];
\$feature{'blame'}{'default'} = [1];
1;
EOF

# ---- CVS repository (cvsweb) --------------------------------------------------
if [ ! -f cvs/.done ]; then
  rm -rf cvs cvswork; mkdir -p cvs/CVSROOT/Emptydir cvs/proj/doc cvswork
  cd cvswork
  # ci writes RCS files directly, so that dates and authors can be chosen
  put() { # file,v  date  author  message  [ci options]
    f=$1; d=$2; w=$3; m=$4; shift 4
    ci -q -f -d"$d" -w"$w" -m"$m" -t-"sample" "$@" "$(basename "$f")" "$f,v" </dev/null
  }
  printf 'alpha\nbeta\ngamma\n' > notes.txt
  put "$DIR/cvs/proj/notes.txt" '2020-01-02 03:04:05Z' ana 'first notes'
  co -q -l "$DIR/cvs/proj/notes.txt,v" >/dev/null 2>&1 </dev/null || :
  printf 'alpha\nBETA\ngamma\ndelta\n' > notes.txt
  put "$DIR/cvs/proj/notes.txt" '2020-02-03 04:05:06Z' bruno 'second notes'
  cp ../src/logo.png logo.png
  rcs -q -i -kb -t-sample "$DIR/cvs/proj/logo.png,v" </dev/null
  rcs -q -l "$DIR/cvs/proj/logo.png,v" 2>/dev/null </dev/null || :
  put "$DIR/cvs/proj/logo.png" '2020-01-02 03:04:05Z' ana 'a picture'
  printf '<p>hello</p>\n' > index.html
  put "$DIR/cvs/proj/doc/index.html" '2020-01-02 03:04:05Z' ana 'a page'
  cd "$DIR"; rm -rf cvswork
  # readers lock outside the repository, and CVS records no history, so that the workers need no right to write to it
  printf 'LockDir=%s\nLogHistory=\n' "$DIR/cvslock" > cvs/CVSROOT/config
  : > cvs/CVSROOT/val-tags
  chmod -R u+w cvs
  touch cvs/.done
fi

# ---- usemod-wiki -----------------------------------------------------------
# The program reads /etc/usemod-wiki/config and nothing else, so its data stays
# where the package put it unless the administrator edits that file.  See
# wiki-etc.sh for the three lines that move the data to $USEMOD_DATADIR.
mkdir -p wiki

# ---- awstats ---------------------------------------------------------------
mkdir -p awstats/data
perl - "$DIR" <<'P'
my $d = shift;
open my $o, '>', "$d/awstats/access.log" or die $!;
for my $i (1 .. 300) {
  my $day = 1 + int($i / 30); my $ip = '10.1.' . ($i % 4) . '.' . (1 + $i % 17);
  my $path = ('/index.html', '/a.html', '/b/c.html', '/img/x.png', '/missing')[$i % 5];
  my $st = $path eq '/missing' ? 404 : 200;
  printf $o qq{%s - - [%02d/Mar/2021:%02d:%02d:%02d +0000] "GET %s HTTP/1.1" %d %d "%s" "Mozilla/5.0 (X11; Linux x86_64; rv:78.0) Gecko/20100101 Firefox/78.0"\n},
    $ip, $day, int(($i % 30) / 2), ($i % 2) * 30, $i % 60, $path, $st, 1000 + $i,
    $i % 7 ? '-' : 'http://www.example.net/from';
}
P
# awstats also looks for its settings beside the path it was called by ($0)
mkdir -p cgi-bin
ln -sfn /usr/lib/cgi-bin/awstats.pl cgi-bin/awstats.pl
cat > cgi-bin/awstats.demo.conf <<EOF
LogFile="$DIR/awstats/access.log"
LogType=W
LogFormat=1
SiteDomain="demo.example"
HostAliases="demo.example localhost 127.0.0.1"
DNSLookup=0
DirData="$DIR/awstats/data"
DirCgi="/cgi-bin"
DirIcons="/awstats-icon"
AllowToUpdateStatsFromBrowser=1
AllowFullYearView=3
ShowLinksOnUrl=0
EOF
if [ ! -f awstats/data/awstats032021.demo.txt ]; then
  perl "$DIR/cgi-bin/awstats.pl" -config=demo -update >awstats/update.log 2>&1
fi

# ---- blosxom ---------------------------------------------------------------
mkdir -p blosxom/data/tech blosxom/plugins blosxom/state
printf 'First post\n<p>Hello from the first post.</p>\n' > blosxom/data/first.txt
printf 'Second post\n<p>A &euro; and caf\303\251.</p>\n' > blosxom/data/tech/second.txt
touch -d '2021-03-01 10:00:00 UTC' blosxom/data/first.txt
touch -d '2021-03-02 10:00:00 UTC' blosxom/data/tech/second.txt
cat > blosxom/blosxom.conf <<EOF
\$blog_title = 'Cameleer weblog';
\$datadir = '$DIR/blosxom/data';
\$plugin_dir = '$DIR/blosxom/plugins';
\$plugin_state_dir = '$DIR/blosxom/state';
1;
EOF

# ---- the directory the server runs programs from -------------------------------
# Symbolic links to the packaged files: the programs stay exactly as packaged,
# and cvsweb finds its cvsweb.conf beside the path it was called by (\$0).
mkdir -p cgi-bin
for p in awstats.pl blosxom cvsweb gitweb.cgi info2www wiki.pl; do
  ln -sfn /usr/lib/cgi-bin/$p cgi-bin/$p
done
cat > cgi-bin/cvsweb.conf <<EOF
do '/etc/cvsweb/cvsweb.conf' or die \$@ || \$!;
@CVSrepositories = ('demo' => ['Demo repository', '$DIR/cvs']);
\$allow_tar = 1;
\$allow_compress = 1;
\$cssurl = '/cvsweb/css/cvsweb.css';
1;
EOF

# ---- the \$r handler ----------------------------------------------------------
mkdir -p lib
cp "$HERE/lib/Guestbook.pm" lib/
rm -f state/guestbook.db state/guestbook.db-*

# ---- Catalyst --------------------------------------------------------------
mkdir -p psgi
if [ ! -f psgi/Guild/guild.psgi ]; then
  (cd psgi && rm -rf Guild && catalyst.pl Guild >/dev/null)
fi
mkdir -p cider/session
cat > cider/ciderwebmail.conf <<EOF
name CiderWebmail
<server>
	host 127.0.0.1
	port ${IMAP_PORT:-1143}
</server>
<managesieve>
	mode off
	host 127.0.0.1
	port 4190
</managesieve>
language en
username_default_address 0
<send>
	method sendmail
</send>
<Model::DB>
	connect_info dbi:SQLite:$DIR/cider/user_settings.sql
</Model::DB>
<Plugin::Session>
	storage $DIR/cider/session/store
</Plugin::Session>
EOF
sed -e "s#@DIR@#$DIR#g" "$HERE/cider.psgi.in" > psgi/cider.psgi
for f in "$HERE"/*.conf.in; do
  b=$(basename "$f" .in)
  sed -e "s#@DIR@#$DIR#g" -e "s#@PORT@#$PORT#g" "$f" > "$b"
done
# files that workers write, as any user
chmod -R a+rwX cvslock home tmp state wiki awstats/data cider blosxom/state
chmod a+rX . 
echo "$DIR ready"
