#!/usr/bin/env bash
# Sets the environment up (or reuses it), checks the style and runs every test.
# Arguments go to pytest: bash scripts/test.sh -m "not slow"
# Tests on real data run where FAIRSEQ_XL_DATA names the folder that holds it, and say so where they are skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
venv=${FAIRSEQ_XL_VENV:-.venv}
bash scripts/setup.sh --venv "$venv" --extras test,report
"$venv/bin/python" -m ruff check .
"$venv/bin/python" -m pytest "$@"
