#!/usr/bin/env bash
# Sets the environment up (or reuses it), checks style, types and imports, and runs every test.
# Arguments go to pytest: bash scripts/test.sh -m "not slow"; -n 0 runs them in one process, for a debugger.
# Tests on real data run where FAIRSEQ_XL_DATA names the folder that holds it, and say so where they are skipped.
# FAIRSEQ_XL_EOLE=1 runs the tests of eole's part, too, in an environment of its own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
venv=${FAIRSEQ_XL_VENV:-.venv}
bash scripts/setup.sh --venv "$venv" --extras test,report,index,cluster,syntactic,siamese,pairs,corpus,onnx,ctranslate2,examples,tensorboard,hub,docs,browser
# A browser for the test of a report's page. CI brings one, where there is none; elsewhere the test says what it lacks.
if [[ -n ${CI:-} && -z ${FAIRSEQ_XL_BROWSER:-} ]] && ! command -v chromium google-chrome >/dev/null; then
  if command -v apt-get >/dev/null && [[ $(id -u) == 0 ]]; then
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends chromium; } >/dev/null || true
  else
    timeout 300 "$venv/bin/python" -m playwright install chromium || true
  fi
fi
"$venv/bin/python" -m ruff check .
"$venv/bin/python" -m ruff format --check .
"$venv/bin/lint-imports" --no-cache
# What a recipe and the files that it sources share looks unused to each of them.
find recipes scripts .ci -type f \( -name '*.sh' -o -name run \) -print0 |
  xargs -0 "$venv/bin/shellcheck" --severity=warning --exclude=SC2034,SC1090,SC1091
"$venv/bin/python" -m mypy
"$venv/bin/codespell"
bash scripts/docs.sh
# A file stays with one process: its tests share a trained model or a data directory. So does a folder that
# tests/helpers/order.py names.
# nproc counts what OMP_NUM_THREADS says where that is set.
cores=$(env -u OMP_NUM_THREADS nproc 2>/dev/null || echo 2)
# One thread each: threads that wait for a core which another process has make small models many times as slow.
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
# A process that ends in the middle of a test would in its successors, too.
"$venv/bin/python" -m pytest -n "$((cores < 4 ? cores : 4))" --dist loadfile --no-loadscope-reorder \
  --max-worker-restart 0 --durations 25 "$@"
# Hostile circumstances for every command, for so many minutes; the same cases each time.
minutes=${FAIRSEQ_XL_FUZZ_MINUTES:-0}
if [[ $minutes != 0 ]]; then
  "$venv/bin/python" scripts/fuzz.py commands --minutes "$minutes" --seed 1 --output fuzz
fi
# Without the fixtures of the other tests, which import fairseq.
if [[ ${FAIRSEQ_XL_EOLE:-0} == 1 ]]; then
  bash scripts/setup.sh --venv "$venv-eole" --extras eole,test
  "$venv-eole/bin/python" -W ignore -c 'import eole' # without it every test would be skipped
  "$venv-eole/bin/python" -W ignore -m pytest --confcutdir tests/eole --durations 5 tests/eole
fi
