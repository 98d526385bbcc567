#!/bin/sh
# New data for running replicas: crawls a catalogue, builds the snapshot in its place, tells the admin ports to take it.
# What fails leaves the old data served. Usage: refresh.sh UPSTREAM_URL BASE_URL CONTACT FOLDER [ADMIN_ADDRESS...]
# where CATALOGUE_REPLICA may name the command. A crawl that was ended goes on where it was. One that was refused begins
# anew at the next run, and this one ends with 3.
set -eu
# Told to end, it waits for what it runs, which is told too: a container ends with its first process.
trap 'exit 143' TERM
upstream=$1 base=$2 contact=$3 folder=$4
shift 4
command=${CATALOGUE_REPLICA:-catalogue-replica}
# It is no setting of the command, which refuses what it does not know.
unset CATALOGUE_REPLICA

# A crawl that was refused keeps what it fetched, which each later run would judge again. Only what it says tells it
# from one that was interrupted.
exec 3>&1
status=0
said=$($command crawl "$upstream" -o "$folder/catalogue" --contact "$contact" 2>&1 >&3 3>&-) || status=$?
[ -z "$said" ] || printf '%s\n' "$said" >&2
case $status:$said in
0:*) ;;
*"catalogue.crawl crawls anew"*)
  rm -r "$folder/catalogue.crawl"
  echo "refresh.sh: the crawl was refused: the next run fetches all anew" >&2
  exit 3
  ;;
*) exit "$status" ;;
esac
exec 3>&-
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
