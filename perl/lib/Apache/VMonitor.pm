package Apache::VMonitor;

use v5.36;

use Apache             ();
use Apache::Constants  qw(OK SERVER_ERROR);
use Apache::Scoreboard ();
use Cameleer::HTML     qw(escape);
use GTop               ();

our $VERSION = '0.8';

# The parts of the page, and the interval of its reload (seconds; 0 is never).
our %Config = ( refresh => 0, system => 1, apache => 1, kept => 1 );

# The columns: title, and key of the row's value.
my @COLUMNS = (
    [ 'PID'     => 'pid' ],
    [ 'Process' => 'role' ],
    [ 'M'       => 'status' ],
    [ 'Since'   => 'since' ],
    [ 'Req'     => 'requests' ],
    [ 'Size'    => 'size' ],
    [ 'Share'   => 'share' ],
    [ 'VSize'   => 'vsize' ],
    [ 'PSS'     => 'pss' ],
    [ 'Request' => 'request' ],
);

sub handler {
    my $r     = $_[-1];
    my $image = Apache::Scoreboard->image or return SERVER_ERROR;
    $r->header_out( Refresh => $Config{refresh} ) if $Config{refresh};
    $r->send_http_header('text/html');
    return OK if $r->header_only;
    my @rows = rows($image);
    $r->print(
        "<!DOCTYPE html>\n<html><head><title>Apache::VMonitor</title></head>\n<body>\n",
        $Config{system} ? system_part()    : (),
        $Config{apache} ? processes(@rows) : (),
        totals(@rows),
        room(@rows),
        $Config{kept} ? kept($image) : (),
        "</body></html>\n"
    );
    return OK;
}

# One row per process of this server.
sub rows ($image) {
    my @workers = map {
        my %row = (
            role     => 'worker ' . $_->slot,
            pid      => $_->pid,
            status   => $_->status,
            requests => $_->access_count,
            request  => $_->request,
            since    => seconds( $_->req_time )
        );
        \%row
    } $image->servers;
    my @others = (
        { role => 'master', pid => $image->master_pid },
        { role => 'front',  pid => $image->front_pid },
        { role => 'mold',   pid => getppid },    # or the master, if it has adopted the worker
    );
    my %seen;
    return map { measured($_) } grep { $_->{pid} && !$seen{ $_->{pid} }++ } @workers, @others;
}

sub measured ($row) {
    my $memory = GTop->new->proc_mem( $row->{pid} );
    $row->{memory} = $memory;
    for my $field (qw(size share vsize pss)) {
        $row->{$field} = defined $memory->$field ? GTop::size_string( $memory->$field ) : '-';
    }
    return $row;
}

# Totals by the documents' formula, and by the kernel's proportional set sizes.
sub totals (@rows) {
    my ( $real, $shared, $size, $pss, $unknown ) = ( 0, 0, 0, 0, 0 );
    for my $memory ( map { $_->{memory} } @rows ) {
        $size += $memory->size;
        $real += $memory->size - $memory->share;
        $shared = $memory->share if $memory->share > $shared;
        defined $memory->pss ? ( $pss += $memory->pss ) : $unknown++;
    }
    $real += $shared;
    my $without = $unknown ? " (without $unknown that this user may not read)" : '';
    return sprintf "<pre>%-44s%9dK\n%-44s%9dK\n%-44s%9dK%s</pre>\n",
      'Total size (shared pages counted in each):', $size / 1024,
      'Total real, sum(size-share) + max share:',   $real / 1024,
      'Total real, by PSS:',                        $pss / 1024, $without;
}

# Number of workers that fit into memory if each grows to `size` and shares `shared` of it (all in one unit).
sub max_clients ( $ram, $size, $shared = 0 ) { return $size > $shared ? int( ( $ram - $shared ) / ( $size - $shared ) ) : undef }

# Uses the largest size and the smallest shared part of any worker.
sub room (@rows) {
    my @workers = map { $_->{memory} } grep { $_->{role} =~ /^worker/ } @rows;
    my ($size)  = sort { $b <=> $a } map { $_->size } @workers;
    my ($share) = sort { $a <=> $b } map { $_->share } @workers;
    my $fit     = $size && max_clients( GTop->new->mem->total, $size, $share );
    return defined $fit ? "<pre>MaxClients by (RAM-share)/(max size-share): $fit</pre>\n" : ();
}

sub seconds ($ms) { return sprintf '%.1f', $ms / 1000 }

sub processes (@rows) {
    my $line = sub ( $tag, @cells ) {
        '<tr>' . join( '', map { "<$tag>" . escape($_) . "</$tag>" } @cells ) . "</tr>\n";
    };
    return qq{<table border="1">\n}, $line->( 'th', map { $_->[0] } @COLUMNS ), (
        map {
            my $row = $_;
            $line->( 'td', map { $row->{ $_->[1] } } @COLUMNS )
        } @rows
      ),
      "</table>\n";
}

# In httpd a kept-alive connection occupies its process (state K); Cameleer lists such connections separately.
sub kept ($image) {
    my @lines =
      map { sprintf "K %-24s %6d requests  %8ss\n", escape( $_->{client} ), $_->{served}, seconds( $_->{since_ms} ) }
      $image->kept_clients;
    return '<pre>' . $image->kept . ' of ' . $image->connections . " connections are kept alive\n", @lines, "</pre>\n";
}

sub system_part {
    my $gtop = GTop->new;
    my ( $memory, $swap, $load ) = ( $gtop->mem, $gtop->swap, $gtop->loadavg );
    my $sizes = sub ( $record, @fields ) {
        join '  ', map { "$_ " . GTop::size_string( $record->$_ ) } @fields;
    };
    return
        '<pre>'
      . localtime()
      . '  load '
      . join( ' ', @{ $load->loadavg } )
      . '  tasks '
      . $load->nr_tasks . ', '
      . $load->nr_running
      . " running\nMem:  "
      . $sizes->( $memory, qw(total used free shared buffer cached) )
      . "\nSwap: "
      . $sizes->( $swap, qw(total used free) )
      . "</pre>\n";
}

1;

__END__

=head1 NAME

Apache::VMonitor - a page of the server's processes and their memory

=head1 SYNOPSIS

    <Location /system/vmonitor>
        SetHandler perl-script
        PerlHandler Apache::VMonitor
        Order deny,allow
        Deny from all
        Allow from 127.0.0.1
    </Location>

    # startup.pl
    use Apache::VMonitor ();
    $Apache::VMonitor::Config{refresh} = 5;    # seconds

=head1 DESCRIPTION

One line per process: its state as in L<Apache::Scoreboard::Server> (C<_> C<W> C<S> C<G>), the time
in that state in seconds, its requests, its memory as measured by L<GTop>, and its current request.
Below are the total memory of all processes, by the formula sum(size - share) + the largest share,
and by PSS, where each page counts once. The page also shows how many workers fit into the machine's
memory, by the largest size and the smallest share of any worker, and the connections in state C<K>,
which occupy no worker.

C<%Config>: C<refresh>, and C<system>, C<apache>, C<kept> for the parts of the page (1 or 0).

=head1 FUNCTIONS

=head2 max_clients(RAM, SIZE [, SHARED])

The number of workers that fit: (RAM - SHARED) / (SIZE - SHARED), rounded down, all in one unit;
SHARED is 0 by default. Returns undef if SIZE is not larger than SHARED.

    Apache::VMonitor::max_clients( 500, 10, 4 );    # 82

=head1 DIFFERENCES

The page has no mounted file systems, no network interfaces, and sends no signals. Workers cannot
read all facts about a master that runs as root: its share is then the files that it maps.

=cut
