use v5.36;

return { none => [ sub ($r) { require Apache2::Request; my $q = Apache2::Request->new($r); scalar( () = $q->upload ) }, '0' ] };
