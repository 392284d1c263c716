"""Files of the bridged suites that are left out, with their reasons."""

PROCESSES = 'processes of the server: workers, signals'
DESCRIPTORS = 'descriptors that the server inherits'

LEFT_OUT = {
    'mojolicious': {
        't/mojo/hypnotoad.t': 'hypnotoad, a server of its own',
        't/mojo/morbo.t': 'morbo, a server of its own',
        't/mojo/prefork.t': 'Mojo::Server::Prefork, a server of its own',
    },
    # Those of t/http2 are left out as well: Net::HTTP2::nghttp2 is not in Debian.
    'pagi-server': {
        't/11-multiworker.t': PROCESSES,
        't/12-fork-loop-isolation.t': PROCESSES,
        't/13-multiworker-signal.t': PROCESSES,
        't/17-worker-respawn-loop.t': PROCESSES,
        't/26-max-requests.t': PROCESSES,
        't/46-multiworker-bugs.t': PROCESSES,
        't/47-worker-heartbeat.t': PROCESSES,
        't/signal-graceful-restart.t': PROCESSES,
        't/signal-graceful-shutdown.t': PROCESSES,
        't/signal-worker-scaling.t': PROCESSES,
        't/48-fd-reuse.t': DESCRIPTORS,
        't/49-systemd-activation.t': DESCRIPTORS,
        't/31-memory-leak.t': 'variables of PAGI::Server',
        't/44-access-log-format.t': "the format of PAGI-Server's access log",
    },
}
