package Apache::Options;

use v5.36;
use Exporter 'import';

use Apache::Constants qw(:options);

our @EXPORT = @{ $Apache::Constants::EXPORT_TAGS{options} };

1;

__END__

=head1 NAME

Apache::Options - the OPT_ constants

=head1 SYNOPSIS

    use Apache::Options;
    return FORBIDDEN unless $r->allow_options & OPT_EXECCGI;

=cut
