"""Values of Authorization headers: `@BASIC USER:PASSWORD@`, `@DIGEST USER:PASSWORD NAME=VALUE ...@`.

A digest answers the server's own challenge, which `challenge()` asks for. NAME=VALUE replaces a field of the answer;
`uri` and `method` are also what is hashed; an empty value leaves the field out.
"""
import base64
import hashlib
import re

PATTERN = re.compile(r"@(BASIC|DIGEST) ([^:]+):(\S*)( [^@]*)?@")


def md5(*parts):
    return hashlib.md5(":".join(parts).encode()).hexdigest()


def filled(field, method, target, challenge):
    found = PATTERN.search(field)
    if not found:
        return field
    kind, user, password, changes = found.groups()
    if kind == "BASIC":
        value = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
    else:
        changes = dict(re.findall(r"(\w+)=(\S*)", changes or ""))
        value = digest((user, password), (method, target), challenge(), changes)
    return field.replace(found[0], value)


def digest(account, request, challenge, changes):
    """The answer of `account` (user, password) to a challenge, for `request` (method, target), with some fields changed."""
    (user, password), (method, target) = account, request
    given = dict(re.findall(r'(\w+)="?([^",]*)"?', challenge))
    fields = {"username": user, "realm": given.get("realm", ""), "nonce": given.get("nonce", ""), "uri": target}
    if "qop" in given:
        fields |= {"qop": "auth", "nc": "00000001", "cnonce": "0a4f113b"}
    if "opaque" in given:
        fields["opaque"] = given["opaque"]
    if "algorithm" in given:
        fields["algorithm"] = given["algorithm"]
    method = changes.pop("method", method)
    fields |= {name: value for name, value in changes.items() if name != "response"}
    secret, asked = md5(user, fields["realm"], password), md5(method, fields["uri"])
    if fields.get("qop"):
        middle = [fields["nonce"], fields.get("nc", ""), fields.get("cnonce", ""), fields["qop"]]
    else:
        middle = [fields["nonce"]]
    fields["response"] = changes.get("response", md5(secret, *middle, asked))
    bare = {"qop", "nc", "algorithm"}
    return "Digest " + ", ".join(
        f"{name}={value}" if name in bare else f'{name}="{value}"' for name, value in fields.items() if value)
