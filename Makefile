# The targets. CI calls only these.
#
#   make run     build, serve the demo site; root installs what is missing, others are told
#   make check   format, clippy, walls, unit tests and one black-box test of each kind: less than a minute after a build
#   make test    all tests; where ../shared/suites is, mod_perl's own tests as well
#   make test-under-load  the tests N times (10), while each processor has something else to do; T=workers:: for some of them
#   make applications  the tests of large applications of Debian, which it installs: Request Tracker, OCS Inventory; 75 s
#   make timing  the tests of tests/timing.txt, whose result depends on what else the machine does; one after the other
#   make suites  mod_perl's own tests, compared with the result in tests/suites/; BLESS=1 writes it down, ALL=1 adds mod_perl 2's
#   make autobahn  the Autobahn TestSuite against event pools, which it installs; ALL=1 adds 96 cases of compression, half an hour; BLESS=1
#   make mojolicious  the tests of Debian's Mojolicious with our front and event server; BLESS=1 writes the result down
#   make pagi    the tests of PAGI-Server, of the checkout PAGI=FOLDER with PAGI-Tools beside it, the same way
#   make lint    format, clippy, the house rules that a compiler can check
#   make doc     rustdoc, man pages, help texts, directive reference, compatibility page
#   make bench   against Apache + mod_perl 2 and Starman; writes benchmarks/runs/
#   make experiments   the mod_perl documents' experiments, the same way
#   make faults  what clients lose when things go wrong, beside Apache + mod_perl 2 and nginx + Starman
#   make fuzz    parsers of strangers' bytes, 60 s each
#   make asan    the suite of the API with the C part under AddressSanitizer
#   make loom    all orders of reads and writes in the memory that front and worker share
#   make valgrind   a worker in miniature under memcheck
#   make audit   licences, sources and known vulnerabilities of what we depend on
#   make mutants    each method of the API taken away: the tests that its row names must fail
#   make soak    a million requests of all kinds, with reloads: nothing lost, nothing grown; N=20000 for fewer
#   make deb     Debian packages, in target/deb/
#   make deb-test   lintian; installed, upgraded under load, removed and purged in a container; two minutes after make deb
#   make reproducible   the program for packages, built in two folders: the same bytes, and no name of a folder
#   make apt-repository   adds them to a repository for apt in REPOSITORY (target/apt/), signed with the key KEY of GnuPG
#   make tarball the program with its files, to be unpacked and run anywhere without root; in target/tarball/
#   make install    below PREFIX (/usr/local), in DESTDIR for packagers; make uninstall takes it away again

PREFIX  ?= /usr/local
SYSCONFDIR ?= /etc
CARGO   ?= cargo
PROGRAM  = target/release/cameleer
# Built by pkg/build, without the folders of the machine.
PACKAGED = target/packages/release/cameleer
REPOSITORY = target/apt
SUITES  ?= ../shared/suites
PACKAGES = sh pkg/debian-packages/install

# Most tests wait for something most of the time, so more of them run at once than there are processors.
THREADS  = $(shell expr 4 '*' $$(nproc))

# libtest takes names of tests as its last words.
SMOKE    = $(shell grep -v '^\#' tests/smoke.txt)
TIMING   = $(shell grep -v '^\#' tests/timing.txt)

.PHONY: run build check test test-under-load timing applications suites autobahn mojolicious pagi lint doc bench asan loom valgrind audit soak mutants experiments faults fuzz install install-files uninstall deb deb-test reproducible apt-repository container-test other-perl tarball clean

build:
	$(PACKAGES) build
	$(CARGO) build --release --locked

run: build
	$(PACKAGES) demo
	$(PROGRAM) serve -f examples/demo/site.conf

check:
	$(PACKAGES) build check
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	$(CARGO) test --workspace --lib --locked --quiet
	RUST_TEST_THREADS=$(THREADS) $(CARGO) test --locked --quiet --test cameleer -- --skip tainted:: walls:: $(SMOKE)

test:
	$(PACKAGES) build demo test apt-repository
	sh tests/apps/packaged/site/wiki-etc.sh
	sh pkg/h2spec/install
	sh pkg/pebble/install
	RUST_TEST_THREADS=$(THREADS) $(CARGO) test --workspace --tests --locked
	[ ! -d $(SUITES) ] || $(MAKE) suites ALL=1

test-under-load:
	$(PACKAGES) build demo test
	sh tests/apps/packaged/site/wiki-etc.sh
	sh pkg/h2spec/install
	sh pkg/pebble/install
	RUST_TEST_THREADS=$(THREADS) sh tests/under-load $(or $(N),10) $(CARGO) test --locked $(if $(T),--test cameleer -- $(T),--workspace --tests)

timing:
	$(PACKAGES) build test
	$(CARGO) test --locked --test cameleer -- --ignored --test-threads=1 $(TIMING)

suites:
	$(PACKAGES) build suites
	$(CARGO) build --locked
	python3 tests/suites/run.py $(if $(BLESS),--bless) $(if $(ALL),--all) target/debug/cameleer $(SUITES)

autobahn:
	$(PACKAGES) build
	sh pkg/autobahn/install
	$(CARGO) build --locked
	python3 tests/suites/autobahn.py $(if $(BLESS),--bless) $(if $(ALL),--all) target/debug/cameleer

mojolicious:
	$(PACKAGES) build
	sh pkg/mojolicious/install
	$(CARGO) build --locked
	python3 tests/suites/bridged.py $(if $(BLESS),--bless) target/debug/cameleer mojolicious target/tools/mojolicious

pagi:
	$(PACKAGES) build pagi
	$(CARGO) build --locked
	python3 tests/suites/bridged.py $(if $(BLESS),--bless) target/debug/cameleer pagi-server $(or $(PAGI),$(error PAGI is the checkout of PAGI-Server))

applications:
	$(PACKAGES) build demo test applications
	$(CARGO) test --locked --test cameleer -- --ignored apps::

lint:
	$(PACKAGES) build
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	$(CARGO) metadata --locked --format-version 1 --manifest-path fuzz/Cargo.toml > /dev/null
	sh .ci/audit if-there

doc:
	$(PACKAGES) build
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked
	# Together with the program, so that the dependencies have the features, and the builds, that it has.
	CAMELEER_BLESS=1 $(CARGO) test --locked --package cameleer --package config --package compat --lib -- reference:: rows::
	CAMELEER_BLESS=1 $(CARGO) test --locked --test cameleer -- each_help_fits_a_screen_and_is_the_checked_in_text
	$(CARGO) run --locked -- man > target/cameleer.8
	$(CARGO) run --locked -- man directives > target/cameleer.conf.5

bench: build
	python3 benchmarks/run.py

experiments: build
	python3 benchmarks/experiments/run.py

faults: build
	python3 benchmarks/faults/run.py

fuzz:
	$(PACKAGES) build fuzz
	sh fuzz/run

asan:
	$(PACKAGES) build demo test
	sh tests/sanitize/asan

loom:
	RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom $(CARGO) test --release --locked --package wire --lib memory::model

valgrind:
	$(PACKAGES) build sanitize
	sh tests/sanitize/valgrind

audit:
	sh .ci/audit

mutants:
	python3 tests/mutants/methods.py

soak: build
	python3 benchmarks/soak.py --requests $(or $(N),1000000)

install: build
	@$(MAKE) -s install-files

# install without building; PROGRAM names the binary.
install-files:
	PROGRAM="$(PROGRAM)" PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" SYSCONFDIR="$(SYSCONFDIR)" sh pkg/install-files install

uninstall:
	PROGRAM="$(PROGRAM)" PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" SYSCONFDIR="$(SYSCONFDIR)" sh pkg/install-files uninstall

# The date that the program shows is that of the package.
deb:
	$(PACKAGES) build deb
	SOURCE_DATE_EPOCH=$$(dpkg-parsechangelog -l pkg/debian/changelog -S Timestamp) CARGO="$(CARGO)" sh pkg/build
	PROGRAM="$(PACKAGED)" sh pkg/deb

tarball:
	$(PACKAGES) build
	CARGO="$(CARGO)" sh pkg/build
	PROGRAM="$(PACKAGED)" sh pkg/tarball

apt-repository: deb
	$(PACKAGES) apt-repository
	sh pkg/apt-repository "$(KEY)" "$(REPOSITORY)" target/deb/*.deb

deb-test: deb
	$(PACKAGES) deb-test
	PROGRAM="$(PACKAGED)" sh tests/pkg/deb-test

reproducible:
	$(PACKAGES) build
	CARGO="$(CARGO)" sh tests/pkg/reproducible

container-test: deb
	$(PACKAGES) container-test
	sh tests/pkg/container-test

other-perl:
	$(PACKAGES) build test
	sh tests/pkg/other-perl

clean:
	$(CARGO) clean
