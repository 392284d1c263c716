package Guestbook;
# A visitors' book for the mod_perl 1 handler interface.
#
#   <Location /guestbook>
#     SetHandler perl-script
#     PerlHandler Guestbook
#     PerlSetVar GuestbookDB /path/to/guestbook.db
#   </Location>
#
#   GET  /guestbook          the entries, newest first (HTML)
#   POST /guestbook          name=, message=  -> 302 back to the list
#   GET  /guestbook/entry/N  one entry as text, 404 if there is none
#   GET  /guestbook/stats    pid, how many requests this worker has answered, and
#                            how many database connections it has opened (one)
use strict;
use Apache::Constants qw(OK REDIRECT NOT_FOUND HTTP_BAD_REQUEST SERVER_ERROR);
use DBI ();

# One connection for each worker process: a handle opened before a fork must not
# be used after it, so it is remembered with the process that opened it.
my ($dbh, $owner, $opened, $served) = (undef, 0, 0, 0);

sub db {
    my ($r) = @_;
    return $dbh if $dbh && $owner == $$;
    if ($dbh) {
        $dbh->{InactiveDestroy} = 1;    # the parent's connection must not be closed here
        ($opened, $served) = (0, 0);
    }
    my $file = $r->dir_config('GuestbookDB') or die "GuestbookDB is not set\n";
    $dbh = DBI->connect("dbi:SQLite:dbname=$file", '', '',
        { RaiseError => 1, PrintError => 0, AutoCommit => 1, sqlite_unicode => 1 });
    $dbh->sqlite_busy_timeout(5000);
    $dbh->do('create table if not exists entry
        (id integer primary key, name text not null, message text not null)');
    $owner = $$;
    $opened++;
    return $dbh;
}

sub esc {
    my ($s) = @_;
    my %as = ('&' => '&amp;', '<' => '&lt;', '>' => '&gt;', '"' => '&quot;');
    $s =~ s/([&<>"])/$as{$1}/g;
    utf8::encode($s);
    return $s;
}

sub fields {
    my ($body) = @_;
    my %f;
    for my $pair (split /[&;]/, defined $body ? $body : '') {
        my ($k, $v) = split /=/, $pair, 2;
        next unless defined $v;
        for ($k, $v) {
            tr/+/ /;
            s/%([0-9A-Fa-f]{2})/chr hex $1/ge;
            utf8::decode($_);
        }
        $f{$k} = $v;
    }
    return %f;
}

sub handler {
    my $r = shift;
    my $db = db($r);
    $served++;
    my $path = $r->path_info;

    if ($path eq '/stats') {
        $r->content_type('text/plain');
        $r->send_http_header;
        $r->print("pid=$$ served=$served opened=$opened\n");
        return OK;
    }
    if ($path =~ m{^/entry/(\d+)$}) {
        my ($name, $message) = $db->selectrow_array(
            'select name, message from entry where id = ?', undef, $1);
        return NOT_FOUND unless defined $name;
        my $text = "$name: $message\n";
        utf8::encode($text);
        $r->content_type('text/plain; charset=utf-8');
        $r->header_out('Content-Length' => length $text);
        $r->send_http_header;
        $r->print($text) unless $r->header_only;
        return OK;
    }
    return NOT_FOUND if length $path && $path ne '/';

    if ($r->method eq 'POST') {
        my %f = fields(scalar $r->content);
        return HTTP_BAD_REQUEST unless length($f{name} || '') && length($f{message} || '');
        $db->do('insert into entry (name, message) values (?, ?)', undef,
            @f{qw(name message)});
        $r->header_out(Location => $r->uri);
        return REDIRECT;
    }

    my %q = fields(scalar $r->args);
    my $limit = ($q{limit} || '') =~ /^(\d{1,4})$/ ? $1 : 20;
    my $rows = $db->selectall_arrayref(
        'select id, name, message from entry order by id desc limit ?', undef, $limit);
    $r->content_type('text/html; charset=utf-8');
    $r->header_out('X-Guestbook-Entries' => scalar @$rows);
    $r->no_cache(1);
    $r->send_http_header;
    return OK if $r->header_only;
    $r->print("<!DOCTYPE html>\n<title>Guestbook</title>\n<h1>Guestbook</h1>\n<ul>\n");
    $r->print('<li id="e', $_->[0], '"><b>', esc($_->[1]), '</b> ', esc($_->[2]), "</li>\n")
        for @$rows;
    $r->print(qq{</ul>\n<form method="post"><input name="name"><input name="message">},
        qq{<button>Sign</button></form>\n});
    return OK;
}

1;
