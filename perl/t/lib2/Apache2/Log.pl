# Apache2::Log: messages, levels and the mark of the caller; run by packages.t

use v5.36;

return {
    written  => [ sub ($r) { $r->log_error("a line of $$"); 'logged' }, 'logged' ],
    methods  => [ sub ($r) { my $log = $r->log; join ' ', grep { $log->can($_) } qw(emerg alert crit error warn notice info debug) }, 'emerg alert crit error warn notice info debug' ],
    constant => [ sub ($r) { Apache2::Const->import( -compile => ':log' ); Apache2::Const::LOG_ERR() }, '3' ],
    mark     => [ sub ($r) { my ( $file, $line ) = Apache2::Log::LOG_MARK(); $file =~ m{/Log\.pl\z} && $line =~ /\A\d+\z/ ? 'here' : "$file $line" }, 'here' ],
};
