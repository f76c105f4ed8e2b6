#!/bin/sh
# What Rebind is for, on one real-format checkpoint. `make demo` runs it.
# Usage: demo.sh REBIND [FOLDER]; the database goes into FOLDER, by default ./out.
set -eu

rebind=$1
folder=${2:-out}
files=scenarios/demo
database=sqlite:///$folder/demo.db
mkdir -p "$folder"
rm -f "$folder"/demo.db*

run() {
    printf '\n$ rebind %s\n' "$*"
    "$rebind" "$@"
}

echo 'A kubelet keeps in kubelet_internal_checkpoint which container holds which devices.'
run checkpoint verify "$files/kubelet_internal_checkpoint"

printf '\nRebind takes the file over into a SQL database, where it can be asked.\n'
run checkpoint import "$files/kubelet_internal_checkpoint" --node node-a \
    -f "$files/pods.yaml" --db "$database"
run get bindings --db "$database"
run get nodes --db "$database"

printf '\nWhat do kubelets of three versions make of it, with the file and with the database?\n'
run replay "$files/imported-node.yaml"

printf '\nThe same as a page with a timeline of every run; open it in a browser.\n'
run replay "$files/imported-node.yaml" -o html --output-file "$folder/report.html"

printf '\nAll built-in scenarios: rebind replay --all\n'
