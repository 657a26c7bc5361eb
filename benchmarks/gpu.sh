#!/usr/bin/env bash
# What a GPU has to show, in ten minutes: a profile of two steps, every encoder beside PyTorch, tests.
#
#     benchmarks/gpu.sh [profile] [encoders] [tests]
#     QUICK=1 benchmarks/gpu.sh    # on the CPU, to try the script; its numbers say nothing
#
# Results go to $OUT [runs/gpu], line by line, so that a part that is cut short is not lost.
# $PEER_PYTHON [python3] is the interpreter that has PyTorch.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

out=${OUT:-runs/gpu}
mkdir -p "$out"
settings=(--device cuda --rounds 3)
tests=(tests/benchmarks/test_gpu.py tests/{layers,losses,encoders,optimizers,training,models,tasks})
if [ -n "${QUICK:-}" ]; then
    settings=(--device cpu --rounds 1 --pairs 200)
    tests=(tests/benchmarks/test_gpu.py tests/losses)
fi
status=0

# Runs a command for at most so many seconds, and keeps what it prints.
part() {
    local name=$1 limit=$2
    shift 2
    [ -z "${QUICK:-}" ] || limit=0  # Starting the processes alone takes minutes.
    timeout "$limit" "$@" 2>&1 | tee "$out/$name.log" || status=1
}

compare() {
    part "$1" "$2" python benchmarks/encoders.py "${settings[@]}" "${@:3}" \
        --peer-python "${PEER_PYTHON:-python3}" --json "$out/$1.json"
}

[ $# -gt 0 ] || set -- profile encoders tests
for name in "$@"; do
    case $name in
        profile)
            compare profile 120 --profile --cases "words, charagram, 1600;sentences, charagram, 100"
            ;;
        encoders) compare encoders 240 ;;
        tests)
            part tests 240 python -m pytest -n 4 --dist loadfile -q -p no:cacheprovider \
                "${tests[@]}"
            ;;
        *)
            echo "Unknown part '$name'. Available: profile, encoders, tests." >&2
            exit 2
            ;;
    esac
done
exit $status
