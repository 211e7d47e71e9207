#!/usr/bin/env bash
# Installs fairseq_xl and everything it needs into .venv (or the environment you name), in about half a minute.
# A second run finds that nothing changed and ends within a second; after an interruption, run it again.
#
#   --venv DIR        make or reuse this virtual environment (default: .venv in the clone)
#   --here            install into the active environment (or that of --python), whose torch stays as it is
#   --python PY       the interpreter, or a version that uv knows (default: one of 3.11 to 3.13)
#   --torch WHICH     auto (a GPU decides), cpu, cuda, or a version; an installed torch is never replaced
#   --extras LIST     extras of pyproject.toml, with commas between them, or none (default: report,test); eole leaves
#                     fairseq out, and wants an environment of its own
#   --find-links DIR  a folder of wheels; UV_FIND_LINKS, PIP_FIND_LINKS and pip's own setting are read too
#   --wheel FILE      install this wheel of fairseq_xl instead of the clone in editable form
#   --force           install everything but torch again, where files were lost
#
# uv does the work, by the settings in pyproject.toml; pip fetches it where it is missing. docs/how-to/install.md
# says how to do without it.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
fits='import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))'
tested_torch=2.13.0

say() { printf 'setup: %s\n' "$*" >&2; }
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 2
}

venv=$root/.venv here=no python='' torch=auto extras=report,test wheel='' force=no links=()
while [[ $# -gt 0 ]]; do
  case $1 in
    -h | --help)
      awk 'NR > 1 { if ($0 !~ /^#/) exit; sub(/^# ?/, ""); print }' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    --here | --force)
      if [[ $1 == --here ]]; then here=yes; else force=yes; fi
      shift
      ;;
    --venv | --python | --torch | --extras | --find-links | --wheel)
      [[ -n ${2:-} ]] || fail "$1 needs a value: see --help"
      case $1 in
        --venv) venv=$(realpath -m -- "$2") ;;
        --python) python=$2 ;;
        --torch) torch=$2 ;;
        --extras) extras=$2 ;;
        --find-links) links+=("$(realpath -m -- "$2")") ;;
        --wheel) wheel=$(realpath -m -- "$2") ;;
      esac
      shift 2
      ;;
    *) fail "setup.sh has no option '$1': see --help" ;;
  esac
done
[[ $torch =~ ^(auto|cpu|cuda|[0-9].*)$ ]] || fail "--torch $torch: use auto, cpu, cuda or a version"
[[ -z $wheel || ($wheel == */fairseq_xl-*.whl && -f $wheel) ]] ||
  fail "--wheel $wheel: there is no wheel of fairseq_xl of that name"
[[ $extras != none ]] || extras=''
# pip and uv leave out what they do not know.
known=$(sed -n '/^\[project.optional-dependencies\]/,/^\[/s/^\([a-z0-9_-]*\) = .*/\1/p' "$root/pyproject.toml")
for extra in ${extras//,/ }; do
  [[ $'\n'$known$'\n' == *$'\n'$extra$'\n'* ]] || fail "--extras has '$extra': there are" $known
done

# The environment: that of an interpreter, or a virtual one, made where there is none.
first_that_fits() {
  local candidate
  for candidate in "$@"; do
    if "$candidate" -c "$fits" >/dev/null 2>&1; then command -v "$candidate" && return; fi
  done
  return 1
}
none="no Python 3.11, 3.12 or 3.13 found"
uv=$(command -v uv || true)
candidates=(python3 python3.12 python3.11 python3.13)
if [[ -n $python ]]; then
  candidates=("$python")
elif [[ $here == yes && -n ${VIRTUAL_ENV:-${CONDA_PREFIX:-}} ]]; then
  candidates=("${VIRTUAL_ENV:-$CONDA_PREFIX}/bin/python")
fi
base=$(first_that_fits "${candidates[@]}" || true)
if [[ $here == yes ]]; then
  [[ -n $base ]] || fail "$none (tried: ${candidates[*]}): activate an environment of one, or name it with --python"
  target=$base
else
  target=$venv/bin/python
  unfinished=$venv/fairseq_xl-unfinished
  [[ ! -e $venv || -e $venv/pyvenv.cfg || -z $(ls -A "$venv") ]] ||
    fail "$venv exists and is no virtual environment; name another with --venv DIR"
  if [[ -e $unfinished ]] || ! "$target" -c "$fits" >/dev/null 2>&1 ||
    [[ -n $python && -n $base && $("$target" -V) != "$("$base" -V)" ]]; then
    if [[ -n $uv ]]; then # which knows interpreters that are on no path, and can fetch one
      "$uv" venv --quiet --no-project --clear --seed --python "${base:-${python:->=3.11,<3.14}}" "$venv" >&2 ||
        fail "$none (tried: ${candidates[*]}): install one, or name it with --python"
    else
      [[ -n $base ]] || fail "$none (tried: ${candidates[*]}): install one, or name it with --python"
      "$base" -m venv --clear "$venv" || fail "$base could not make a virtual environment: install python3-venv, or uv"
    fi
    touch "$unfinished"
  fi
fi
prefix=$("$target" -c 'import sys; print(sys.prefix)')

# Nothing to do where the last run was complete and was made from the same.
stamp=$prefix/fairseq_xl-setup
has_compiler() {
  command -v "${CXX:-${CC:-c++}}" >/dev/null || [[ -z ${CXX:-}${CC:-} && -n $(command -v g++ clang++) ]]
}
if [[ -f $stamp ]]; then
  extras=$({ sed -n 's/^extras: //p' "$stamp" && echo "$extras"; } | tr ',' '\n' | sed '/^$/d' | sort -u | paste -sd,)
fi
eole=no
[[ ,$extras, != *,eole,* ]] || eole=yes
if [[ $eole == yes ]] && "$target" -c 'import fairseq' >/dev/null 2>&1; then
  fail "--extras eole: fairseq is installed here, whose fastText is another than eole's: use another --venv DIR"
fi
digest=$(cat "$root"/{setup.py,pyproject.toml,scripts/constraints.txt,scripts/setup.sh} ${wheel:+"$wheel"} | sha256sum)
made_from="${digest%% *} $root $("$target" -V) $(has_compiler && echo compiler || true)"$'\n'"extras: $extras"
if [[ $force == no && -f $stamp && $(cat "$stamp") == "$made_from" ]]; then
  say "$prefix is up to date"
  exit
fi

if [[ -z $uv ]]; then
  uv=$prefix/bin/uv
  [[ -x $uv ]] || "$target" -m pip install --quiet 'uv>=0.9' >&2 ||
    fail "pip could not get uv: see 'Without the script' in docs/how-to/install.md"
fi
say "installing into $prefix ($("$target" -V), $("$uv" --version))"
pips=$("$target" -m pip config get global.find-links 2>/dev/null || true)
# uv separates by commas, pip by blanks
IFS=, read -ra of_uv <<<"${UV_FIND_LINKS:-}"
read -ra of_pip <<<"${PIP_FIND_LINKS:-} ${pips//$'\n'/ }"
options=()
for link in "${links[@]}" "${of_uv[@]}" "${of_pip[@]}"; do options+=(--find-links "$link"); done
constraints=$root/scripts/constraints.txt
if [[ $eole == yes ]]; then # which wants an older sentencepiece
  constraints=$prefix/fairseq_xl-constraints
  grep -v '^sentencepiece==' "$root/scripts/constraints.txt" >"$constraints"
fi
[[ $here == yes ]] || options+=(--constraint "$constraints")
[[ -t 2 ]] || options+=(--quiet)
# uv does not read pip's settings
if [[ -n ${PIP_INDEX_URL:-} ]]; then export UV_DEFAULT_INDEX=${UV_DEFAULT_INDEX:-$PIP_INDEX_URL}; fi
install() { (cd "$root" && "$uv" pip install --python "$target" "${options[@]}" "$@" >&2); }
version_of_torch() { "$target" -c 'import importlib.metadata as m; print(m.version("torch"))' 2>/dev/null || true; }

# torch first, since fairseq is built against it, and pinned from then on: all else is resolved around it.
installed=$(version_of_torch)
if [[ -n $installed ]]; then
  [[ $(printf '%s\n' 2.6 "$installed" | sort -V | head -n 1) == 2.6 ]] ||
    fail "torch $installed is installed here, and fairseq_xl needs 2.6 or newer: upgrade it, or use --venv DIR"
  [[ $torch != [0-9]* || ${installed%%+*} == "${torch%%+*}" ]] ||
    fail "torch $installed is installed here and is never replaced: to have $torch, use another --venv DIR"
  say "torch $installed is installed and stays"
else
  [[ $torch == [0-9]* ]] && version=$torch || version=$tested_torch
  gpu=no
  if [[ $torch == cuda ]] || { [[ $torch != cpu ]] && nvidia-smi -L 2>/dev/null | grep -q GPU; }; then gpu=yes; fi
  local_wheel() { [[ ${options[*]} == *--find-links* ]] && install --no-index --no-deps "torch==$version" 2>/dev/null; }
  index_of() { install --torch-backend "$1" "torch==$version"; }
  if [[ $gpu == yes ]]; then
    index_of auto || local_wheel || install "torch==$version"
  elif ! local_wheel && ! index_of cpu; then
    say "the CPU builds' index cannot be reached: taking the default index's build (on Linux gigabytes, for GPUs too)"
    install "torch==$version"
  fi || fail "torch $version could not be installed (the message above says why)"
  installed=$(version_of_torch)
  say "torch $installed"
fi

rm -f "$stamp"
pin=$(mktemp)
trap 'rm -f "$pin" "$pin.without"' EXIT
echo "torch==$installed" >"$pin"
options+=(--constraint "$pin")
install 'setuptools>=70.1' 'numpy>=1.26,<3' || fail "the message above says why setuptools and numpy are missing"
ours=("${wheel:-$root}${extras:+[$extras]}")
if [[ $eole == yes ]]; then
  printf '%s; sys_platform == "never"\n' fairseq-fixed hydra-core omegaconf fasttext-numpy2 >"$pin.without"
  options+=(--overrides "$pin.without")
fi
if [[ -z $wheel ]]; then ours=(--editable "${ours[@]}"); else ours+=(--reinstall-package fairseq-xl); fi
if [[ $force == yes ]]; then
  while read -r name; do ours+=(--reinstall-package "$name"); done < <(
    "$uv" pip list --python "$target" --format freeze 2>/dev/null | sed 's/=.*//' | grep -vx torch
  )
fi
if ! install "${ours[@]}"; then
  { has_compiler || [[ $eole == yes ]]; } && fail "the message above says what could not be installed; mend it and run this again"
  say "trying without fastText, which has no wheel for every machine, since there is no C++ compiler to build it"
  echo 'fasttext-numpy2; sys_platform == "never"' >"$pin.without"
  install --overrides "$pin.without" "${ours[@]}" || fail "the message above says what could not be installed"
  rm -f "$pin.without"
  say "everything but fastText is installed: to train word vectors or read .bin files, install g++ and run this again"
fi
rm -f "$prefix/fairseq_xl-unfinished"
printf '%s\n' "$made_from" >"$stamp.tmp"
mv "$stamp.tmp" "$stamp"
say "ready after $SECONDS s: $prefix/bin/fairseq-xl"
