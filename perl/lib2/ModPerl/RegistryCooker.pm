package ModPerl::RegistryCooker;

use v5.36;

use Apache2::Access            ();
use Apache2::Const -compile => qw(:common OPT_EXECCGI);
use Apache2::Log               ();
use Apache2::RequestIO         ();
use Apache2::RequestRec        ();
use Apache2::RequestUtil       ();
use Apache2::Response          ();
use Apache2::ServerUtil        ();
use Apache::Registry           ();
use Apache::Registry::Compile  ();
use Apache::Registry::Package  ();
use Apache::Registry::Source   ();
use File::Basename             ();
use ModPerl::Const -compile => 'EXIT';
use ModPerl::Global            ();
use ModPerl::Util              ();

# Sets the file and line of the script in perl's messages.
$ModPerl::Registry::MarkLine //= 1;

# Scripts named by URI have different packages in each virtual host.
our $NameWithVirtualHost //= 1;

# For `*chdir_file = \&ModPerl::RegistryCooker::NOP` in subclasses.
sub NOP ( @ )   { return '' }
sub TRUE ( @ )  { return 1 }
sub FALSE ( @ ) { return 0 }

use constant NAMESPACE_ROOT => 'ModPerl::ROOT';
use constant { D_NONE => 0, D_ERROR => 1, D_WARN => 2, D_COMPILE => 4, D_NOISE => 8, DEBUG => 0 };

# --- one request

sub new ( $class, $r ) {
    my $self = bless {}, $class;
    $self->init($r);
    return $self;
}

sub init ( $self, $r ) {
    @$self{qw(REQ URI FILENAME)} = ( $r, $r->uri, $r->filename );
    return;
}

# Called as a function or as a method: the request is the last argument in both cases.
sub handler : method {
    my $r     = pop;
    my $class = shift // __PACKAGE__;
    return $class->new($r)->default_handler;
}

sub default_handler ($self) {
    $self->make_namespace;
    if ( $self->should_compile ) {
        my $rc = $self->can_compile;
        $rc = $self->convert_script_to_compiled_handler if $rc == Apache2::Const::OK;
        return $rc if $rc != Apache2::Const::OK;
    }
    my $before = $self->{REQ}->status;
    return _status_of_handler( $self->{REQ}, $before, $self->run );
}

# A script sets the status of the response, while a handler returns it: so the old status is restored. If the
# script has printed a page for the status, mod_perl 2 answers 200, and appends its own page.
sub _status_of_handler ( $r, $before, $rc ) {
    my $after = $r->status($before);
    return $rc    if $rc != Apache2::Const::OK || $after == $before;
    return $after if !$r->bytes_sent;
    $r->status($after);
    return $rc;
}

sub run ( $self, @arguments ) {
    $self->chdir_file;
    my $resets = $self->should_reset_inc_hash;
    my %before = $resets ? %INC : ();
    $self->open_data if defined $self->cache_table->{ $self->{PACKAGE} }{data};
    push @Apache::UNWIND, [ $self->{REQ}->number, sub { $self->unwound } ];
    my $rc = $self->guarded( $self->{REQ}, @arguments );
    pop @Apache::UNWIND;
    delete @INC{ grep { !$before{$_} && !/\.pm\z/ } keys %INC } if $resets;
    $self->flush_namespace;
    $self->chdir_file( Apache2::ServerUtil::server_root() );
    return $rc;
}

# Runs the script, then its END blocks; the first error counts.
sub guarded ( $self, @arguments ) {
    my $package = $self->{PACKAGE};
    my $code    = code_of($package);
    my ( $rc, $rc_of_end ) = ( Apache2::Const::OK, Apache2::Const::OK );
    eval { $code->(@arguments); 1 } or $rc = $self->error_check;
    eval { ModPerl::Global::special_list_call( END => $package ); 1 } or $rc_of_end = $self->error_check;
    return $rc || $rc_of_end;
}

# The server has ended the script, which went on printing for a client that has left.
sub unwound ($self) {
    end_blocks_of( $self->{PACKAGE} );
    $self->flush_namespace;
    $self->chdir_file( Apache2::ServerUtil::server_root() );
    return;
}

sub end_blocks_of ($package) {
    eval { ModPerl::Global::special_list_call( END => $package ); 1 } or Apache::Log::write( 3, "$@" );
    return;
}

sub code_of ($package) {
    no strict 'refs';
    return \&{"${package}::handler"};
}

# --- cached scripts

# By class and file: { stamp, cache, code, package, uri } of a script that has run and can run again without
# preparation.
our %KEPT;

# Called by classes that cache scripts: a file that is unchanged since its compilation runs immediately.
sub serve ( $class, $r ) {
    my ( undef, $file, $stamp ) = Apache::Registry::look( $r, 0 );
    my $kept = $KEPT{$class}{$file};
    return run_again( $class, $r, $kept ) if $kept && $kept->{stamp} eq $stamp && defined $kept->{cache}{mtime};
    my $self = $class->new($r);
    my $rc   = $self->default_handler;
    keep( $class, $file, $stamp, $self->{PACKAGE}, $self->script_uri ) if $class =~ /\AModPerl::Registry(?:BB)?\z/;
    return $rc;
}

sub keep ( $class, $file, $stamp, $package, $uri ) {
    my $cache = $class->cache_table->{$package};
    return if !$cache || !defined $cache->{mtime} || defined $cache->{data};
    $KEPT{$class}{$file} = { stamp => $stamp, cache => $cache, code => code_of($package), package => $package,
        uri => $uri, unwound => sub { end_blocks_of($package) } };
    return;
}

sub run_again ( $class, $r, $kept ) {
    my $before = $r->status;
    my $rc     = Apache2::Const::OK;
    push @Apache::UNWIND, [ $r->number, $kept->{unwound} ];
    eval { $kept->{code}->($r); 1 } or $rc = $class->new($r)->error_check;
    pop @Apache::UNWIND;
    eval { ModPerl::Global::special_list_call( END => $kept->{package} ); 1 } or $rc ||= $class->new($r)->error_check;
    return _status_of_handler( $r, $before, $rc );
}

# --- checks before compilation

# Declines if there is no file.
sub can_compile ($self) {
    my ( $r, $file ) = @$self{qw(REQ FILENAME)};
    return Apache2::Const::DECLINED unless defined $file && $file !~ /\0/ && -f $file;
    $self->{MTIME} = Apache::Registry::mtime($file);
    return Apache2::Const::OK if $r->allow_options & Apache2::Const::OPT_EXECCGI;
    $r->log_error("Options ExecCGI is off in this directory: $file");
    return Apache2::Const::FORBIDDEN;
}

# --- the script's package

sub namespace_root ($self) { return join '::', NAMESPACE_ROOT, ref $self }

sub make_namespace ($self) {
    my $name = $self->namespace_from;
    utf8::encode($name) if utf8::is_utf8($name);
    $name =~ s/([^A-Za-z0-9_])/sprintf '_%02x', ord $1/eg;
    $name =~ s/\A(?=[0-9])/_/;
    return $self->{PACKAGE} = $self->namespace_root . "::$name";
}

sub namespace_from_filename ($self) { return join '_', grep { length } split m{/}, $self->{FILENAME} }

# The URI without further path.
sub script_uri ($self) {
    my ( $r, $name ) = @$self{qw(REQ URI)};
    my $path_info = $r->path_info // '';
    return length $path_info ? $name =~ s/\Q$path_info\E\z//r : $name;
}

sub namespace_from_uri ($self) {
    my ( $r, $name ) = ( $self->{REQ}, $self->script_uri );
    $name = ( $r->get_server_name // '' ) . $name if $NameWithVirtualHost && $r->server->is_virtual;
    return $name =~ s{/+\z}{/__INDEX__}r;
}

*namespace_from = \&namespace_from_filename;

# Empties the package after each run, for classes that do not cache scripts.
sub flush_namespace_normal ($self) { return ModPerl::Util::unload_package( $self->{PACKAGE} ) }

*flush_namespace       = \&NOP;
*should_reset_inc_hash = \&FALSE;

# --- the cache

# By package: { mtime, data }.
sub cache_table_common (@) {
    no warnings 'once';
    return \%ModPerl::RegistryCache;
}

# A cache table of the class itself.
sub cache_table_local ($self) {
    no strict 'refs';
    return \%{ ref $self || $self };
}

*cache_table = \&cache_table_common;

sub cache_it ($self) {
    $self->cache_table->{ $self->{PACKAGE} }{mtime} = $self->{MTIME};
    return;
}

sub is_cached ($self) { return exists $self->cache_table->{ $self->{PACKAGE} }{mtime} }

sub should_compile_if_modified ($self) {
    $self->{MTIME} ||= Apache::Registry::mtime( $self->{FILENAME} ) // 0;
    return !( $self->is_cached && $self->cache_table->{ $self->{PACKAGE} }{mtime} == $self->{MTIME} );
}

sub should_compile_once ($self) { return !$self->is_cached }

*should_compile = \&should_compile_once;

# A script calls this as a function to be compiled again at the next request.
sub uncache_myself {
    my $package = caller;
    my $known   = cache_table_common()->{$package};
    return delete $known->{mtime} if $known && exists $known->{mtime};
    Apache2::ServerRec::warn("ModPerl::RegistryCooker::uncache_myself: $package is not a cached script");
    return;
}

# --- the script's text

sub convert_script_to_compiled_handler ($self) {
    my $rc = $self->read_script;
    return $rc if $rc != Apache2::Const::OK;
    my $switches = $self->shebang_to_perl;
    $self->chdir_file;
    my $line = $self->get_mark_line;
    $self->strip_end_data_segment;
    my $text = "package $self->{PACKAGE};sub handler {" . $self->name_setting . $self->nph . "$switches$line${ $self->{CODE} }\n}";
    $rc = $self->compile( \$text );
    return $rc if $rc != Apache2::Const::OK;
    $self->chdir_file( Apache2::ServerUtil::server_root() );
    $self->cache_table->{ $self->{PACKAGE} }{data} = $self->{DATA} if defined $self->{DATA};
    $self->cache_it;
    return $rc;
}

# An alias instead of an assignment, which would also rename the process and take longer than a small script.
sub name_setting ($self) {
    my $name = ( $self->get_script_name || $0 ) =~ s/([\\'])/\\$1/gr;
    return "local *0 = do { \\( my \$name = '$name' ) };";
}

# A script that writes its status line and all headers itself.
sub nph ($self) { return File::Basename::basename( $self->{FILENAME} ) =~ /\Anph-/ ? '$_[0]->assbackwards(1);' : '' }

sub read_script ($self) {
    my $code = eval { $self->{REQ}->slurp_filename(0) };
    return do { $self->{CODE} = $code; Apache2::Const::OK } if $code;
    my $error = $@;
    $self->log_error("$error");
    return Apache2::Const::SERVER_ERROR unless ref $error eq 'APR::Error';
    require APR::Status;
    return Apache2::Const::FORBIDDEN if APR::Status::is_EACCES($error);
    return Apache2::Const::NOT_FOUND if APR::Status::is_ENOENT($error);
    return Apache2::Const::SERVER_ERROR;
}

# Converts perl's switches in the first line to code.
sub shebang_to_perl ($self) {
    my ( $command, @words ) = split ' ', ${ $self->{CODE} } =~ /\A(#!.*)/ ? $1 : return '';
    my $code = '';
    for my $word (@words) {
        last if $word =~ /\A--/;
        $word =~ s/\A-// or next;
        $code .= "use warnings;\n" if $word =~ /w/;
        Apache2::ServerRec::warn("-T switch is ignored, enable with 'PerlSwitches -T' in httpd.conf\n") if $word =~ /T/ && !${^TAINT};
    }
    return $code;
}

sub get_script_name ($self) { return $self->{FILENAME} }

sub get_mark_line ($self) {
    return '' unless $ModPerl::Registry::MarkLine;
    my $file = $self->{FILENAME} =~ tr/"\n\r\0/_/r;
    return qq{\n#line 1 "$file"\n};
}

# Cuts off the text from __END__ or __DATA__ on; records the offset of DATA.
sub strip_end_data_segment ($self) {
    my ( $end, $data ) = Apache::Registry::Source::end_of( ${ $self->{CODE} } );
    return unless defined $end;
    substr ${ $self->{CODE} }, $end, length ${ $self->{CODE} }, '';
    $self->{DATA} = $data if ${ $self->{CODE} } =~ /\bDATA\b/;
    return;
}

# A script reads DATA to its end, so each run opens it again.
sub open_data ($self) {
    my $at     = $self->cache_table->{ $self->{PACKAGE} }{data};
    my $handle = do { no strict 'refs'; \*{"$self->{PACKAGE}::DATA"} };
    open $handle, '<', $self->{FILENAME} or die "$self->{FILENAME}: $!\n";
    seek $handle, $at, 0;
    return;
}

# Scripts that open files by relative names expect their own folder.
sub chdir_file_normal ( $self, $folder = File::Basename::dirname( $self->{FILENAME} ) ) {
    chdir $folder or die "Can't chdir to $folder: $!";
    return;
}

*chdir_file = \&NOP;

# --- compilation

sub compile ( $self, $text ) {
    my $package = $self->{PACKAGE};
    ModPerl::Global::special_list_register( END => $package );
    ModPerl::Global::special_list_clear( END => $package );
    Apache::Registry::Package::forget_subs($package);
    Apache->untaint($$text);
    {
        local $!;
        Apache::Registry::Compile::compile($$text);
    }
    return $self->error_check;
}

# Code called exit, which is not an error.
sub error_check ($self) {
    my $error = $@;
    return Apache2::Const::OK if !ref $error && $error eq '' || is_exit($error);
    $self->log_error($error);
    return Apache2::Const::SERVER_ERROR;
}

sub is_exit ($error) { return ref $error eq 'APR::Error' && $error == ModPerl::EXIT }

sub log_error ( $self, $error ) {
    my $r = $self->{REQ};
    $r->log_error($error);
    $r->notes->set( 'error-notes' => "$error" );
    Apache::_remember($error);
    return;
}

sub debug ( $self, @words ) {
    $self->{REQ}->log_error( "$$: " . ref($self) . ': ' . join '', @words );
    return;
}

# --- for subclasses

# Installs methods: maps names to the full names of subs.
sub install_aliases ( $class, $aliases ) {
    no strict 'refs';
    for my $name ( keys %$aliases ) {
        my $code = defined &{ $aliases->{$name} } ? \&{ $aliases->{$name} } : die "$class: $name: there is no sub $aliases->{$name}\n";
        no warnings 'redefine';
        *{"${class}::$name"} = $code;
    }
    return;
}

1;

__END__

=head1 NAME

ModPerl::RegistryCooker - base class of mod_perl 2's Registry classes

=head1 SYNOPSIS

    package My::Registry;
    use parent 'ModPerl::RegistryCooker';

    sub handler : method {
        my $class = @_ >= 2 ? shift : __PACKAGE__;
        return $class->new(shift)->default_handler;
    }

    *should_compile = \&ModPerl::RegistryCooker::should_compile_if_modified;
    *chdir_file     = \&ModPerl::RegistryCooker::chdir_file_normal;
    sub namespace_from ($self) { return $self->{URI} }
    1;

=head1 DESCRIPTION

An object has C<REQ>, C<FILENAME> and C<URI>, and later C<PACKAGE>, C<MTIME> and C<CODE>, a
reference to the text. C<default_handler> calls C<make_namespace> (which uses C<namespace_root> and
C<namespace_from>), C<should_compile>, C<can_compile>, C<convert_script_to_compiled_handler>
(C<read_script>, C<shebang_to_perl>, C<chdir_file>, C<get_mark_line>, C<strip_end_data_segment>,
C<get_script_name>, C<compile>, C<cache_it>) and C<run> (C<error_check>, C<should_reset_inc_hash>,
C<flush_namespace>). Each may be overridden.

Alternatives are C<namespace_from_filename> and C<namespace_from_uri>; C<should_compile_once> and
C<should_compile_if_modified>; C<chdir_file_normal> and C<NOP>; C<flush_namespace_normal> and
C<NOP>; C<cache_table_common> and C<cache_table_local>. C<install_aliases> takes a hash of names and
alternatives.

=head1 DIFFERENCES

C<DATA> is reopened for each run; mod_perl 2 does not support it. Changes of a file within the same
second are detected.

=cut
