# Apache2::Upload: a request without uploads has none; run by packages.t

use v5.36;

return { a_request_without_uploads_has_none => [ sub ($r) { require Apache2::Request; my $q = Apache2::Request->new($r); scalar( () = $q->upload ) }, '0' ] };
