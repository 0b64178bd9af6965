#!/bin/sh
# colpitts.sh NAME=VALUE ...: simulates colpitts.cir with these sizes; what it prints is left in result.json too.
netlist=$(dirname "$0")/colpitts.cir
for size in "$@"; do
    set -- "$@" -D "$size"
    shift
done
ngspice -b "$@" "$netlist" > log.txt || exit
sed -n 's/^\([a-z]*\) = \(.*\)$/"\1": \2/p' log.txt | paste -sd, | sed 's/.*/{&}/' | tee result.json
