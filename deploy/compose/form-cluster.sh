#!/bin/sh
# Makes one Redis Cluster of some Redis servers (7.0 or later), and mends it after a restart in which
# they changed their addresses. Every step looks first and does only what is missing, so it may run at
# any time, on a new, a half-formed or a working Cluster; slots and data that are there stay.
#
#   form-cluster.sh PRIMARIES HOST:PORT...
#
# The first PRIMARIES servers share the slots of a new Cluster; the others replicate them in turn.
# REDISCLI_AUTH is the password, if they have one; WAIT is how long to wait for anything, in seconds.
set -eu

WAIT=${WAIT:-60}
SLOTS=16384

fail() {
  echo "form-cluster: $*" >&2
  exit 1
}

[ $# -gt 1 ] || fail 'wanted: form-cluster.sh PRIMARIES HOST:PORT...'
primaries=$1
shift
count=$#
if [ "$primaries" -lt 1 ] || [ "$primaries" -gt "$count" ]; then
  fail "wanted 1 to $count primaries, got $primaries"
fi

# ask HOST:PORT COMMAND... prints the reply; of an error says so and fails.
ask() {
  server=$1
  shift
  if reply=$(redis-cli -e -h "${server%:*}" -p "${server##*:}" "$@" 2>&1 </dev/null); then
    echo "$reply" | tr -d '\r'
  else
    echo "$server, $*: $reply" >&2
    return 1
  fi
}

# until_so WHAT COMMAND... runs the command until it succeeds.
until_so() {
  what=$1
  shift
  tries=0
  until "$@" 2>/dev/null; do
    tries=$((tries + 1))
    [ "$tries" -lt $((WAIT * 4)) ] || fail "waited $WAIT s in vain: $what: $("$@" 2>&1 || true)"
    sleep 0.25
  done
}

# info HOST:PORT FIELD prints a field of CLUSTER INFO.
info() { ask "$1" CLUSTER INFO | sed -n "s/^$2://p"; }

# What a node says of itself.
is_replica() { ask "$1" CLUSTER NODES | grep -q ' myself,slave'; }
owns_slots() { ask "$1" CLUSTER NODES | awk '$3 ~ /myself/ && NF > 8 { yes = 1 } END { exit !yes }'; }

# address HOST:PORT prints where the others find the node: what it announces, or else the host itself.
address() {
  announced=$(ask "$1" CONFIG GET cluster-announce-ip | sed -n 2p)
  echo "${announced:-${1%:*}}"
}

answers() { [ "$(ask "$1" PING)" = PONG ] && ask "$1" CLUSTER INFO >/dev/null; }

# knows_all HOST:PORT: it has links to all the others, and takes none for lost.
knows_all() {
  ask "$1" CLUSTER NODES | awk -v count="$count" -v node="$1" '
    $3 ~ /handshake|noaddr|(^|,)fail/ || $8 != "connected" { print node " sees " $0; bad = 1 }
    END { if (NR != count) print node " sees " NR " nodes, wanted " count; exit bad || NR != count }' >&2
}

# To meet a node that is known already is to learn its new address.
meet_all() {
  met=yes
  for node; do
    knows_all "$node" && continue
    met=no
    for other; do
      [ "$node" = "$other" ] ||
        ask "$node" CLUSTER MEET "$(address "$other")" "${other##*:}" >/dev/null || return 1
    done
  done
  # Whoever was met wants a moment to answer.
  [ "$met" = yes ] || sleep 0.5
  [ "$met" = yes ]
}

has_all_slots() { [ "$(info "$1" cluster_slots_assigned)" = "$SLOTS" ]; }
replicates() { ask "$1" CLUSTER NODES | grep -q "^$2 .* slave $3 "; }
serves() { [ "$(info "$1" cluster_state)" = ok ] && [ "$(info "$1" cluster_slots_ok)" = "$SLOTS" ]; }
# A replica that still looks for its primary where that once was is told again.
in_step() {
  is_replica "$1" || return 0
  replication=$(ask "$1" INFO replication | tr -d '\r') || return 1
  echo "$replication" | grep -q '^master_link_status:up' && return 0
  nodes=$(ask "$1" CLUSTER NODES) || return 1
  primary=$(echo "$nodes" | awk '$3 ~ /myself/ { print $4 }')
  now_at=$(echo "$nodes" | awk -v id="$primary" '$1 == id { sub(/:.*/, "", $2); print $2 }')
  [ "$(echo "$replication" | sed -n 's/^master_host://p')" = "$now_at" ] ||
    ask "$1" CLUSTER REPLICATE "$primary" >/dev/null
  return 1
}

# emptiest HOST:PORT... prints the id of the primary with the fewest replicas, as the first node sees it.
emptiest() {
  ask "$1" CLUSTER NODES | awk '
    $3 ~ /master/ && NF > 8 { replicas[$1] += 0 }
    $3 ~ /slave/ { replicas[$4]++ }
    END { for (id in replicas) print replicas[id], id }' | sort -n | sed -n '1s/.* //p'
}

for node; do until_so "$node answers" answers "$node"; done

# New nodes get epochs of their own, so that they need not quarrel about them.
epoch=0
for node; do
  epoch=$((epoch + 1))
  if [ "$(info "$node" cluster_known_nodes)" = 1 ] && [ "$(info "$node" cluster_my_epoch)" = 0 ]; then
    ask "$node" CLUSTER SET-CONFIG-EPOCH "$epoch" >/dev/null
  fi
done

until_so 'every node knows every other' meet_all "$@"

number=0
for node; do
  [ "$number" -lt "$primaries" ] || break
  first=$((number * SLOTS / primaries))
  number=$((number + 1))
  last=$((number * SLOTS / primaries - 1))
  # A node with slots keeps them, and so does a Cluster in which every slot has an owner.
  if ! has_all_slots "$1" && ! owns_slots "$node"; then
    ask "$node" CLUSTER ADDSLOTSRANGE "$first" "$last" >/dev/null
  fi
done
for node; do until_so "$node sees all slots owned" has_all_slots "$node"; done

for node; do
  if owns_slots "$node" || is_replica "$node"; then continue; fi
  primary=$(emptiest "$1")
  ask "$node" CLUSTER REPLICATE "$primary" >/dev/null
  until_so "$node is seen as a replica" replicates "$1" "$(ask "$node" CLUSTER MYID)" "$primary"
done

for node; do until_so "$node serves" serves "$node"; done
for node; do until_so "$node is in step with its primary" in_step "$node"; done
echo "form-cluster: $count nodes serve all slots"
