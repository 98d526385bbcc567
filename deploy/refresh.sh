#!/bin/sh
# New data for running replicas: crawls a catalogue, replaces the snapshot, and sends POST /reload to the admin ports.
# Usage: refresh.sh UPSTREAM_URL BASE_URL CONTACT FOLDER [ADMIN_ADDRESS...]; CATALOGUE_REPLICA may name the command.
# After a failure the replicas serve the old data. An interrupted crawl resumes at the next run. A refused one starts
# over then, and this run exits with 3. If the upstream is unavailable, it exits with 1.
set -eu
# After SIGTERM it waits for its child, which gets the signal too: a container ends with its first process.
trap 'exit 143' TERM
upstream=$1 base=$2 contact=$3 folder=$4
shift 4
command=${CATALOGUE_REPLICA:-catalogue-replica}
# The command would refuse it as an unknown setting.
unset CATALOGUE_REPLICA

$command crawl "$upstream" -o "$folder/catalogue" --contact "$contact" --discard-refused
$command import "$folder/catalogue" -o "$folder/catalogue.snapshot" --base-url "$base"
# All replicas are reloaded, even if one fails.
refused=0
for address in "$@"; do
  curl --silent --show-error --fail-with-body --request POST "http://$address/reload" || {
    echo "refresh.sh: $address did not load the new data" >&2
    refused=1
  }
done
exit $refused
