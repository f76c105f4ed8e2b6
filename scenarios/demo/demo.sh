#!/bin/sh
# Shows what Rebind is for, on one real-format checkpoint. Usage: demo.sh REBIND
set -eu

rebind=$1
here=$(dirname "$0")
database=$(mktemp -d)/demo.db
trap 'rm -r "$(dirname "$database")"' EXIT

run() {
    printf '\n$ rebind %s\n' "$*"
    "$rebind" "$@"
}

echo 'A kubelet keeps in kubelet_internal_checkpoint which container holds which devices.'
run checkpoint show "$here/kubelet_internal_checkpoint"

echo
echo 'Rebind keeps the same in a SQL database, and can tell who holds a device.'
run checkpoint import "$here/kubelet_internal_checkpoint" --node node-a --db "sqlite:///$database"
run who-holds gpu-1 --db "sqlite:///$database"

echo
echo 'What would kubelets of three versions do with it, with the file and with the database?'
run replay "$here/imported-node.yaml"

echo
echo 'More of this: rebind replay --all'
