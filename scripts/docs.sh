#!/usr/bin/env bash
# Builds the documentation's site into site/, with every warning an error: bash scripts/docs.sh
# With --serve it is shown at a local address, and built anew when a page changes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
venv=${FAIRSEQ_XL_VENV:-.venv}
export NO_MKDOCS_2_WARNING=1  # an advertisement of another program
if [[ ${1:-} == --serve ]]; then
  exec "$venv/bin/python" -m mkdocs serve --strict
fi
"$venv/bin/python" -m mkdocs build --strict "$@"
echo "site/index.html is the first page"
