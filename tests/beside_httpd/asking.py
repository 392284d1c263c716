"""Asks a server the cases of a file."""
import http.client

import credentials
from cases import CaseError
from client import answer_lines, ask
from site_folder import Refused, Running, ServerKind


def settings(site, case, keyword):
    """The arguments of a keyword, the site's before the case's."""
    items = [item for item in site.items + case.items if item.keyword == keyword]
    return [item.argument for item in items]


def with_credentials(port, method, target, fields):
    """The headers with the answer to the server's challenge, if one of them asks for it."""
    others = [field for field in fields if not credentials.PATTERN.search(field)]

    def challenge():
        found = ask(port, method, target, others, b"").fields
        return next((value for name, value in found if name.lower() == "www-authenticate"), "")

    return [credentials.filled(field, method, target, challenge) for field in fields]


def answers_of(case, site, running):
    """The answers to the requests of a case: a list of lines for each."""
    shown = [name for argument in settings(site, case, "show") for name in argument.split()]
    masks = [argument.rsplit(" ", 1) for argument in settings(site, case, "mask")]
    answers = []
    for item in case.asks(site):
        argument = item.argument.removeprefix("ask ") if item.keyword == "every" else item.argument
        method, _, target = running.fill(argument, running.of_case(case)).partition(" ")
        fields = [running.fill(field, running.of_case(case)) for field in item.request_fields]
        try:
            fields = with_credentials(running.port, method, target, fields)
            response = ask(running.port, method, target, fields, item.text().encode())
            answers.append(answer_lines(response, shown, masks, running.places + [(case.name, "@CASE@")]))
        except (OSError, ValueError, http.client.HTTPException) as error:
            answers.append([f"answer none: {type(error).__name__}"])
    return answers


def answers_together(site, cases, file, command, port):
    """The answers to `cases` by name, from one server with the lines of these cases."""
    kind = ServerKind(file.modules, command, port)
    asking = [case for case in cases if not case.trials()]
    answers = {}
    if asking:
        with Running(site, asking, kind) as running:
            answers = {case.name: answers_of(case, site, running) for case in asking}
    for case in cases:
        if case.trials():
            answers[case.name] = [started(item, site, kind) for item in case.trials()]
    return answers


def started(item, site, kind):
    """Whether the server starts with the site's lines and those of `item`."""
    try:
        with Running(site, [], kind, item):
            return ["answer started"]
    except Refused:
        return ["answer refused"]


def answers_in(file, command, port):
    """The answers to all cases of a file by case name; for a site that does not start, the reason by its cases."""
    answers, broken = {}, {}
    for site in file.sites:
        try:
            answers |= answers_together(site, site.cases, file, command, port)
        except CaseError as error:
            if command is None:
                raise
            # A server may lack a directive of one case only: each case then gets a server of its own.
            alone = site.cases if any(item.keyword == "conf" for item in site.own_items()) else []
            broken |= {case.name: str(error) for case in site.cases if case not in alone}
            for case in alone:
                try:
                    answers |= answers_together(site, [case], file, command, port)
                except CaseError as reason:
                    broken[case.name] = str(reason)
    return answers, broken
