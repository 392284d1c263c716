# Apache2::SizeLimit: a process within its limits stays; run by packages.t

use v5.36;

return { lets_go_on => [ sub ($r) { Apache2::SizeLimit->set_max_process_size(10_000_000); Apache2::SizeLimit::handler($r) }, qr/\A(?:0|-1)\z/ ] };
