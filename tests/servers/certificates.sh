#!/usr/bin/env bash
# Makes what tests of TLS need in FOLDER: a CA (ca.pem), a server's certificate of it for localhost and 127.0.0.1
# (server.pem, server.key), one of it for another name (stranger.pem, stranger.key), one that is out of date (old.pem,
# old.key), and a CA that has signed none of them (other_ca.pem).
#
# usage: certificates.sh FOLDER
set -euo pipefail
cd "${1:?usage: certificates.sh FOLDER}"

new_key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1.key"; }

# authority NAME: NAME.pem and NAME.key of a CA.
authority() {
  new_key "$1"
  openssl req -x509 -new -key "$1.key" -sha256 -days 2 -subj "/CN=Test CA $1" -out "$1.pem" \
    -addext "basicConstraints=critical,CA:TRUE" -addext "keyUsage=critical,keyCertSign,cRLSign"
}

# certificate NAME ALTERNATIVE_NAMES BEGIN END: NAME.pem and NAME.key, signed by the CA, good between two instants.
certificate() {
  new_key "$1"
  openssl req -new -key "$1.key" -subj "/CN=$1" -out "$1.csr"
  printf '[new]\nsubjectAltName=%s\nbasicConstraints=critical,CA:FALSE\n' "$2" >"$1.extensions"
  openssl ca -batch -notext -config ca.conf -in "$1.csr" -out "$1.pem" -extensions new -extfile "$1.extensions" \
    -startdate "$3" -enddate "$4"
}

cat >ca.conf <<'CONF'
[ca]
default_ca = test
[test]
database = index.txt
serial = serial
new_certs_dir = .
certificate = ca.pem
private_key = ca.key
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
CONF
: >index.txt
echo 01 >serial

{
  authority ca
  authority other_ca
  today=$(date -u -d yesterday +%Y%m%d%H%M%SZ)
  soon=$(date -u -d '+2 days' +%Y%m%d%H%M%SZ)
  certificate server 'DNS:localhost,IP:127.0.0.1,IP:::1' "$today" "$soon"
  certificate stranger 'DNS:elsewhere.example' "$today" "$soon"
  certificate old 'DNS:localhost,IP:127.0.0.1' 20200101000000Z 20200201000000Z
} >certificates.log 2>&1 || {
  cat certificates.log >&2
  exit 1
}
