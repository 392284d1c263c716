#!/usr/bin/env python3
"""The client of the Autobahn TestSuite: a line of JSON to the standard output after each case.

    client.py URL CASES EXCLUDED

CASES and EXCLUDED are patterns, separated by blanks. The library is that of pkg/autobahn/install, in PYTHONPATH.
"""
import json
import os
import sys

from autobahntestsuite import fuzzing
from twisted.internet import reactor

KEYS = ('id', 'behavior', 'behaviorClose', 'remoteCloseCode', 'result', 'resultClose')
# Attempts to connect to a server that is gone, one a second.
ATTEMPTS = 10

output = os.fdopen(os.dup(1), 'w')
sys.stdout = sys.stderr


class Factory(fuzzing.FuzzingClientFactory):
    attempts = 0

    def logCase(self, case):
        output.write(json.dumps({key: case[key] for key in KEYS}) + '\n')
        output.flush()

    def createReports(self, *args, **named):
        pass

    def clientConnectionFailed(self, connector, reason):
        self.attempts += 1
        if self.attempts > ATTEMPTS:
            print('%s: %s' % (self.currentCaseId, reason.getErrorMessage()))
            os._exit(1)
        reactor.callLater(1, connector.connect)


url, cases, excluded = sys.argv[1:]
specification = {'outdir': '.', 'servers': [{'agent': 'server', 'url': url}], 'cases': cases.split(), 'exclude-cases': excluded.split(),
                 'exclude-agent-cases': {}, 'options': {}}
Factory(specification, False)
reactor.run()
