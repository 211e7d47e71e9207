#!/usr/bin/env bash
# Installs fairseq_xl and everything it needs into .venv (or the environment you name), in about half a minute.
# A second run finds that nothing changed and ends within a second. Options: bash scripts/setup.sh --help
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

works() { "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' >/dev/null 2>&1; }

# The interpreter to install for: --python's, with --here the active environment's, else the first that fits.
wanted='' here=no
arguments=("$@")
for ((i = 0; i < ${#arguments[@]}; i++)); do
  case ${arguments[i]} in
    --python) wanted=${arguments[i + 1]:-} ;;
    --python=*) wanted=${arguments[i]#--python=} ;;
    --here) here=yes ;;
  esac
done

if [[ -n $wanted ]]; then
  candidates=("$wanted")
elif [[ $here == yes ]]; then
  active=${VIRTUAL_ENV:-${CONDA_PREFIX:-}}
  if [[ -n $active ]]; then candidates=("$active/bin/python"); else candidates=(python3 python); fi
else
  candidates=(python3 python3.12 python3.11 python3.13 python)
fi

python=''
for candidate in "${candidates[@]}"; do
  if works "$candidate"; then python=$candidate; break; fi
done
if [[ -z $python && $here == no ]] && command -v uv >/dev/null 2>&1; then
  # uv knows interpreters that are on no path, and can fetch one.
  request=${wanted:->=3.11,<3.14}
  found=$(uv python find --no-project "$request" 2>/dev/null || true)
  if [[ -z $found ]] && uv python install "${wanted:-3.12}" >&2; then
    found=$(uv python find --no-project "$request" 2>/dev/null || true)
  fi
  if [[ -n $found ]] && works "$found"; then python=$found; fi
fi
if [[ -z $python ]]; then
  echo "error: no Python 3.11, 3.12 or 3.13 found (tried: ${candidates[*]}); install one, or name it with --python PATH" >&2
  exit 2
fi
exec "$python" -I "$root/scripts/install.py" "$@"
