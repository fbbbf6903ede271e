#!/bin/sh
# Makes certificates to try TLS with (OpenSSL 3); a cluster that matters gets them from its own authority.
#   sh deploy/compose/certificates.sh FOLDER
# The folder must be new. Only you may enter it; what lies in `mounted` is shown to the containers, the rest is not.
set -eu
folder=${1:?name a folder that is not there yet, outside the repository}
mkdir -m 700 "$folder"
cd "$folder"
mkdir -m 755 mounted

# sign FILE NAME HOSTS USES: a key and its certificate in one file, good for a year.
sign() {
    openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key -subj "/CN=$2" \
        -addext basicConstraints=critical,CA:FALSE -addext "extendedKeyUsage=$4" \
        -addext "subjectAltName=$3" -out request
    openssl x509 -req -in request -copy_extensions copy -CA mounted/authority.pem -CAkey authority.key \
        -days 365 -out certificate
    cat key certificate > "$1"
    rm key request certificate
}

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout authority.key -days 3650 \
    -subj /CN=copycat-authority -addext keyUsage=critical,keyCertSign,cRLSign -out mounted/authority.pem
# All services show one certificate, to each other as servers and as clients, under the name that
# `services.ssl.server.name` says; REST shows it, too.
sign mounted/service.pem copycat DNS:copycat,DNS:gateway,DNS:localhost,IP:127.0.0.1 serverAuth,clientAuth
sign client.pem user DNS:user clientAuth
# The user of the containers is not you: it may read what is mounted, others cannot get there.
chmod 644 mounted/authority.pem mounted/service.pem
chmod 600 authority.key client.pem
