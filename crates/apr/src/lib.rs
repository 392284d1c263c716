//! `APR::*`, the Perl modules over the Apache Portable Runtime. The build script makes a shared object of
//! perl/lib/APR.xs and perl/lib/APR/; there is no Rust code. Perl loads the object when a program uses APR; the
//! server is linked neither with it nor with libapr.

#![forbid(unsafe_code)]
