"""The experiments of mod_perl's documents: their questions and figures, with new code and paths."""

from ab import Load
from experiment import Experiment, Variant, both

OURS_ONLY = {"cameleer": ""}


def handler_or_registry():
    def of(name, path, theirs):
        return Variant(name, path, both(), theirs, Load(2000, 15))

    return Experiment(
        "handler_or_registry", "Handler or Registry", "G, 1.7.2", "avtime ms / rps",
        (of("light handler", "/light", "15 / 911"), of("light registry", "/perl/light.pl", "21 / 680"),
         of("heavy handler", "/heavy", "183 / 81"), of("heavy registry", "/perl/heavy.pl", "191 / 77")),
        "What does Registry cost above a handler, for light and for heavy code?")


def arguments():
    letters = [chr(ord("a") + i) for i in range(26)]
    queries = {(pairs, length): "&".join(f"{letter}=" + "e" * length for letter in letters[:pairs])
               for pairs, length in ((2, 10), (2, 50), (26, 5), (26, 10))}
    theirs = {
        "apreq": {(2, 10): "51 / 945", (2, 50): "53 / 907", (26, 5): "64 / 754", (26, 10): "65 / 742"},
        "args": {(2, 10): "53 / 899", (2, 50): "53 / 906", (26, 5): "73 / 665", (26, 10): "74 / 657"},
        "cgi_pm": {(2, 10): "87 / 559", (2, 50): "85 / 573", (26, 5): "188 / 263", (26, 10): "188 / 262"},
    }
    variants = tuple(
        Variant(f"{script}, {pairs} pairs, {len(query)} bytes", f"/perl/{script}.pl?{query}",
                OURS_ONLY if script == "apreq" else both(), theirs[script][pairs, length], Load(3000, 50))
        for script in theirs for (pairs, length), query in queries.items())
    return Experiment("arguments", "$r->args, Apache::Request, CGI.pm", "G, 1.7.3", "avtime ms / rps", variants,
                      "What does reading the query cost, by the three ways?")


def translation():
    uri = "/news/a/b/c/d/e/f/g"
    news = '<Location "/news">\nSetHandler perl-script\nPerlHandler Experiment::Light\n</Location>\n'
    lookup = '<Directory "/">\nAllowOverride All\n</Directory>\n'
    none = '<Directory "/">\nAllowOverride None\n</Directory>\n'
    alias, trans = 'Alias /news "$root/htdocs/"\n', "PerlTransHandler Experiment::Trans\n"

    def of(name, theirs, *lines):
        return Variant(name, uri, both(news + "".join(lines)), theirs, Load(5000, 30))

    return Experiment(
        "translation", "From URI to handler", "C, 11.1.7", "avtime ms / rps",
        (of("default", "34 / 827", lookup), of("noht", "32 / 885", none), of("alias", "- / 974", lookup, alias),
         of("trans", "- / 975", lookup, trans), of("noht+trans", "29 / 988", none, trans),
         of("noht+alias", "27 / 996", none, alias)),
        "What do .htaccess look-ups and the search for a file cost a URI that leads to a handler?")


def sections():
    news = '<Location "/news">\nSetHandler perl-script\nPerlHandler Experiment::Light\n</Location>\n' \
           '<Directory "/">\nAllowOverride All\n</Directory>\n'
    depths = ((1, "33 / 849"), (3, "34 / 829"), (5, "35 / 801"))
    return Experiment(
        "sections", "Depth of a URI", "C, 11.1.7", "avtime ms / rps",
        tuple(Variant(f"{depth} sections", "/news" + "/s" * depth, both(news), theirs, Load(5000, 30))
              for depth, theirs in depths),
        "Does each segment of a URI cost system calls?")


def max_clients():
    theirs = {100: "755", 125: "780", 150: "791", 175: "783", 200: "785", 225: "760", 250: "741"}
    return Experiment(
        "max_clients", "MaxClients at 300 clients", "C, 11.1.4", "rps",
        tuple(Variant(str(n), "/light", both(), theirs.get(n, ""), Load(10000, 300), workers=n) for n in (10, 100, 150, 250)),
        "How many workers serve 300 clients best?")


def requests_per_child():
    rows = ((0, 10, "32"), (10, 10, "5.77"), (5, 10, "3.32"), (20, 50, "8.92"), (10, 50, "5.47"), (5, 50, "2.83"))
    return Experiment(
        "requests_per_child", "MaxRequestsPerChild", "G, 1.6.1", "rps",
        tuple(Variant(f"{limit or 'unlimited'}, {clients} clients", "/perl/light.pl", both(), theirs,
                      Load(600 if limit else 2000, clients), pool=f"MaxRequestsPerChild {limit}") for limit, clients, theirs in rows),
        "What does it cost to replace workers often?")


def cgi_or_persistent():
    mod_cgi = 'ScriptAlias "/cgi/" "$root/registry/"\n<Location "/cgi/">\nPassEnv EXPERIMENT_DATABASE\n</Location>\n'
    database = {"mod_perl2": "PerlPassEnv EXPERIMENT_DATABASE\n", "cameleer": "PerlPassEnv EXPERIMENT_DATABASE\n"}
    kept = {server: "PerlModule Apache::DBI\n" + lines for server, lines in database.items()}
    cgi_only = {"mod_perl2": "LoadModule env_module \"$modules/mod_env.so\"\n" + mod_cgi}
    return Experiment(
        "cgi_or_persistent", "mod_cgi or persistent", "G, 1.2 and 1.6.1", "ratio to mod_cgi",
        (Variant("hit counter, mod_cgi", "/cgi/counter.cgi", cgi_only, "1", Load(300, 10)),
         Variant("hit counter, persistent", "/perl/counter.cgi", both(), "21 to 28", Load(3000, 10)),
         Variant("database, mod_cgi", "/cgi/database.cgi", cgi_only, "1", Load(200, 10)),
         Variant("database, persistent", "/perl/database.cgi", database, "", Load(1000, 10)),
         Variant("database, persistent, Apache::DBI", "/perl/database.cgi", kept, "30", Load(1000, 10))),
        "How much faster is a script that stays compiled, and connected?")


def asp():
    load = Load(1500, 5)
    everywhere = '<Directory "$root">\nAllowOverride All\nOptions All\n</Directory>\nDocumentRoot "$root"\nPerlModule Apache::ASP\n'
    conf = everywhere.replace("AllowOverride All", "AllowOverride None") + '<Directory "$root/asp">\n' + "\n".join((
        "SetHandler perl-script", "PerlHandler Apache::ASP", "PerlSetVar Global $root/asp", "PerlSetVar GlobalPackage Experiment::Asp",
        "PerlSetVar SessionTimeout 15", "PerlSetVar StateDir /dev/shm/cameleer-experiment-asp", "PerlSetVar Debug 0")) + "\n"
    serialized = conf + "PerlSetVar SessionSerialize 1\n"

    def of(name, folder, theirs, lines, limit):
        return Variant(name, f"/{folder}/hits.asp", both(lines), theirs, load, workers=5,
                       pool=f"MaxRequestsPerChild {limit}", session=True)

    end = "</Directory>\n"
    return Experiment(
        "asp", "Apache::ASP", "S", "hits/s",
        (of("StateDir on disk", "asp_disk", "6.5", everywhere, 50), of("StateDir in memory", "asp_debug", "14.1", everywhere, 50),
         of("Debug 0", "asp_htaccess", "15.8", everywhere, 50), of("no .htaccess", "asp", "17.3", conf + end, 50),
         of("MaxRequestsPerChild 500", "asp", "22.8", conf + end, 500),
         of("SessionSerialize", "asp", "25.74", serialized + end, 500)),
        "What do the six settings bring? (One session, five clients at once; pages of our own.)")


ALL = [handler_or_registry(), arguments(), translation(), sections(), max_clients(), requests_per_child(), cgi_or_persistent(), asp()]
