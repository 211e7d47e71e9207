#!/usr/bin/env bash
# Sets the environment up (or reuses it), checks style, types and imports, and runs every test.
# Arguments go to pytest: bash scripts/test.sh -m "not slow"; -n 0 runs them in one process, for a debugger.
# Tests on real data run where FAIRSEQ_XL_DATA names the folder that holds it, and say so where they are skipped.
# FAIRSEQ_XL_EOLE=1 runs the tests of eole's part, too, in an environment of its own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
venv=${FAIRSEQ_XL_VENV:-.venv}
bash scripts/setup.sh --venv "$venv" --extras test,report,index,cluster,syntactic,siamese,pairs,corpus,onnx
"$venv/bin/python" -m ruff check .
"$venv/bin/python" -m ruff format --check .
"$venv/bin/lint-imports" --no-cache
# What a recipe and the files that it sources share looks unused to each of them.
find recipes scripts .ci -type f \( -name '*.sh' -o -name run \) -print0 |
  xargs -0 "$venv/bin/shellcheck" --severity=warning --exclude=SC2034,SC1090,SC1091
"$venv/bin/python" -m mypy
# A file stays with one process: its tests share a trained model or a data directory.
# nproc counts what OMP_NUM_THREADS says where that is set.
cores=$(env -u OMP_NUM_THREADS nproc 2>/dev/null || echo 2)
# One thread each: threads that wait for a core which another process has make small models many times as slow.
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
# A process that ends in the middle of a test would in its successors, too.
"$venv/bin/python" -m pytest -n "$((cores < 4 ? cores : 4))" --dist loadfile --no-loadscope-reorder \
  --max-worker-restart 0 --durations 25 "$@"
# Without the fixtures of the other tests, which import fairseq.
if [[ ${FAIRSEQ_XL_EOLE:-0} == 1 ]]; then
  bash scripts/setup.sh --venv "$venv-eole" --extras eole,test
  "$venv-eole/bin/python" -W ignore -m pytest --confcutdir tests/eole --durations 5 tests/eole
fi
