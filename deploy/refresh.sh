#!/bin/sh
# New data for running replicas: crawls a catalogue, builds the snapshot in its place, tells the admin ports to take it.
# What fails leaves the old data served. Usage: refresh.sh UPSTREAM_URL BASE_URL CONTACT FOLDER [ADMIN_ADDRESS...]
# where CATALOGUE_REPLICA may name the command. A crawl that was ended goes on where it was. One that was refused begins
# anew at the next run, and this one ends with 3; where the crawl got nowhere, with 1.
set -eu
# Told to end, it waits for what it runs, which is told too: a container ends with its first process.
trap 'exit 143' TERM
upstream=$1 base=$2 contact=$3 folder=$4
shift 4
command=${CATALOGUE_REPLICA:-catalogue-replica}
# It is no setting of the command, which refuses what it does not know.
unset CATALOGUE_REPLICA

$command crawl "$upstream" -o "$folder/catalogue" --contact "$contact" --discard-refused
$command import "$folder/catalogue" -o "$folder/catalogue.snapshot" --base-url "$base"
# One that is away, or refuses, keeps none of the others from what is new.
refused=0
for address in "$@"; do
  curl --silent --show-error --fail-with-body --request POST "http://$address/reload" || {
    echo "refresh.sh: $address has not taken it" >&2
    refused=1
  }
done
exit $refused
