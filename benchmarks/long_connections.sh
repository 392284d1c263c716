#!/bin/sh
# Sends 100,000 requests on one connection of each kind: h2c and TLS, a file and a program, beside ten other connections.
#
#     sh benchmarks/long_connections.sh target/release/cameleer
#
# Needs h2load (nghttp2-client) and openssl. Prints h2load's result for each connection; exit status 1 if a request failed.
set -eu
program=$(realpath "$1")
requests=${REQUESTS:-100000}
folder=$(mktemp -d)
trap 'kill $server 2>/dev/null; wait 2>/dev/null; rm -rf "$folder"' EXIT
plain=${PORT:-18471}; tls=$((plain + 1))
cd "$folder"
openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out crt -subj /CN=localhost -days 2 2>/dev/null
mkdir htdocs; echo file > htdocs/a.txt
echo 'sub { [200, ["Content-Type", "text/plain"], ["program"]] }' > app.psgi
cat > site.conf <<END
Listen 127.0.0.1:$plain
Listen 127.0.0.1:$tls https
ServerName localhost
PidFile $folder/pid
ErrorLog $folder/log
DocumentRoot $folder/htdocs
Protocols h2 h2c http/1.1
SSLCertificateFile $folder/crt
SSLCertificateKeyFile $folder/key
<Location /app>
PsgiApp $folder/app.psgi
</Location>
END
"$program" serve -f site.conf > out 2>&1 &
server=$!
until curl -s -o /dev/null "http://127.0.0.1:$plain/a.txt"; do sleep 0.1; done
failed=0
for url in http://127.0.0.1:$plain/a.txt http://127.0.0.1:$plain/app https://127.0.0.1:$tls/a.txt https://127.0.0.1:$tls/app; do
    h2load -n "$requests" -c 10 -m 32 -p h2c "$url" > others &
    others=$!
    h2load -n "$requests" -c 1 -m 32 -p h2c "$url" > said
    wait $others
    for which in said others; do
        printf '%s (%s): ' "$url" $which
        grep '^requests:' $which
        grep -q " $requests succeeded, 0 failed, 0 errored, 0 timeout" $which || failed=1
    done
done
cat log
exit $failed
