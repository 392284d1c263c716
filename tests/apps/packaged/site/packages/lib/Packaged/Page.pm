package Packaged::Page;

# Template Toolkit with compiled templates cached by the worker, and a table filled at start-up.

use v5.36;
use Apache::Constants qw(OK SERVER_ERROR);

my $template = Template->new;
my $source   = <<'END';
<ul>[% FOREACH n IN numbers %]<li>[% n %]: [% table.$n %]</li>[% END %]</ul>
<p>[% name | html %]</p>
END

sub handler ($r) {
    my %arguments = $r->args;
    my %values    = ( numbers => [ 1 .. 3 ], table => $main::table, name => $arguments{name} );
    $template->process( \$source, \%values, \my $page ) or return SERVER_ERROR;
    $r->send_http_header('text/html');
    $r->print($page);
    return OK;
}

1;
