package Demo::List;

use strict;
use warnings;
use Apache::Constants qw(OK);
use Demo::Book;
use POSIX qw(strftime);

my $served = 0;

sub handler {
    my $r       = shift;
    my $entries = Demo::Book::newest( $r->dir_config('Entries') );
    $r->content_type('text/html; charset=utf-8');
    $r->no_cache(1);
    $r->send_http_header;
    return OK if $r->header_only;

    $r->print( head('The guest book'), form() );
    $r->print("<ul class=\"book\">\n");
    $r->print( entry($_) ) for @$entries;
    $r->print("</ul>\n");
    $r->print( "<footer>Worker $$, page ", ++$served, " of this worker · a mod_perl handler</footer>\n</main></body></html>\n" );
    return OK;
}

sub head {
    my ($title) = @_;
    return <<"END";
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>$title · Cameleer</title>
<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/style.css"></head>
<body><main><p class="back"><a href="/">Cameleer demo</a></p><h1>$title</h1>
END
}

sub form {
    return <<'END';
<form method="post" action="/cgi/sign.pl">
<label>Your name <input name="name" required maxlength="60"></label>
<label>A message <input name="message" required maxlength="300"></label>
<button>Sign</button>
</form>
END
}

sub entry {
    my ($e) = @_;
    my ( $name, $message ) = map { Demo::Book::html($_) } @$e{qw(name message)};
    my $at = strftime( '%Y-%m-%d %H:%M', localtime $e->{at} );
    return "<li><b>$name</b> <time>$at</time><p>$message</p></li>\n";
}

1;
