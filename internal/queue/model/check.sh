#!/bin/sh
# Checks the model with every property, then shows that each mutation breaks one. Needs spin and a C compiler.
# WORKERS=3 takes minutes and about 2 GB; the default of 2 takes seconds.
set -eu
cd "$(dirname "$0")"
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
workers=${WORKERS:-2}
properties="once kept alone returned honest truthful visible"

build() { # build NAME FLAGS...
    name=$1; shift
    mkdir -p "$dir/$name"
    (cd "$dir/$name" && spin -DWORKERS="$workers" "$@" -a "$OLDPWD/queue.pml" >/dev/null && cc -O1 -DCOLLAPSE -DMEMLIM=6000 -w -o pan pan.c)
}
holds() { # holds NAME PROPERTY: prints states; fails when violated or not exhaustive
    out=$("$dir/$1/pan" -a -w22 -m10000 -N "$2" 2>&1) || true
    case $out in
    *"assertion violated"*) return 1 ;;
    *"Search not completed"*|*"max search depth too small"*) echo "$out" >&2; exit 2 ;;
    *"errors: 0"*) ;;
    *) echo "spin's checker did not finish: $out" >&2; exit 2 ;;
    esac
    echo "$out" | sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p'
}

build model
for p in $properties; do
    states=$(holds model "$p") || { echo "NOT SHOWN: $p"; exit 1; }
    echo "model: $p holds in all $states states"
done
while read -r mutation p; do
    build "$mutation" "-D$mutation"
    if holds "$mutation" "$p" >/dev/null; then echo "$mutation does not break $p: the model proves nothing"; exit 1; fi
    echo "$mutation breaks: $p"
done <<END
NO_R1 alone
NO_R2 visible
NO_R3 visible
NO_R4 visible
NO_R4B returned
NO_KEY once
NO_TX kept
END
