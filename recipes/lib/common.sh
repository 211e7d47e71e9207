# shellcheck shell=bash
# What every recipe shares: messages, dry runs, the environment, and stages that are skipped when they
# are done. A recipe sources this file after `set -euo pipefail`.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
PLUGIN=$ROOT/fairseq_xl
DRY_RUN=${DRY_RUN:-no}
# Text is UTF-8, whatever the locale: fairseq-generate could not print what Latin-1 has no letters for.
if [[ ${PYTHONUTF8:-} == 0 || -n ${PYTHONIOENCODING:-} || $(locale charmap 2>/dev/null) == ISO-* ]]; then
  export PYTHONUTF8=1 PYTHONIOENCODING=utf-8
fi

say() { printf '%s\n' "$*" >&2; }

# A user's mistake: one sentence, status 2, like the fairseq-xl command.
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 2
}

# The block of comments at the top of a recipe is its help text; SHARED_OPTIONS has that of the options that it shares.
usage() {
  awk 'NR > 1 { if ($0 !~ /^#/) exit; sub(/^# ?/, ""); print }' "$1"
  [[ -z ${SHARED_OPTIONS:-} ]] || cat "$SHARED_OPTIONS"
}

need_value() { # OPTION [VALUE]
  [[ $# -ge 2 && -n $2 ]] || fail "$1 needs a value: see --help"
}

# Without zeros in front, which would make it an octal one in arithmetic.
need_number() { # OPTION VALUE
  [[ $2 =~ ^(0|[1-9][0-9]{0,14})$ ]] || fail "$1 is '$2': give a whole number, such as 8"
}

need_count() { # OPTION VALUE
  need_number "$@"
  [[ $2 != 0 ]] || fail "$1 is 0: give 1 or more"
}

need_seed() { # OPTION VALUE
  need_number "$@"
  (($2 < 1 << 32)) || fail "$1 is '$2': give a number below 4294967296"
}

# What becomes part of file names and of lists.
need_name() { # OPTION VALUE
  [[ $2 =~ ^[A-Za-z0-9_][A-Za-z0-9._+=@-]*$ ]] || fail "$1 is '$2': give a name of letters, digits and . _ + = @ - only"
}

need_code() { # OPTION CODE
  [[ $2 =~ ^[A-Za-z0-9][A-Za-z0-9_-]*$ ]] || fail "$1 is '$2': give a language code such as de"
}

# fairseq takes a colon for the end of a folder's name, lists of files end at commas, and the others are patterns.
need_folder_name() { # OPTION FOLDER
  local odd='[]*?{}\,:[[:cntrl:]]'
  [[ ! $2 =~ $odd ]] || fail "$1 is '$2': name a folder without : , * ? [ ] { } \\ and line breaks in its path"
}

one_of() { # WORD "WORDS"
  [[ $1 != *[[:space:]]* && " ${2//$'\n'/ } " == *" $1 "* ]]
}

need_file() { # FILE WHAT
  [[ ! -d $1 ]] || fail "$1 is a folder: name the ${2%,}"
  [[ -s $1 ]] || fail "there is no $2 $1 (or it is empty): check the name"
}

absolute() {
  case $1 in
    /*) printf '%s' "$1" ;;
    *) printf '%s/%s' "$PWD" "$1" ;;
  esac
}

# A recipe or its library defines one of these, or both. They read one option, and set TAKEN to the number of words that
# it takes, itself with them; 0 where they do not know it.
common_option() { TAKEN=0; }
recipe_option() { TAKEN=0; }

# The whole command line of a RECIPE. What follows -- goes to fairseq-train, by way of TUNING.
read_options() { # RECIPE ARGUMENT…
  RECIPE=$1
  shift
  ARGUMENTS=("$@")
  while [[ $# -gt 0 ]]; do
    case $1 in
      -h | --help)
        usage "$RECIPE"
        exit 0
        ;;
      --)
        shift
        TUNING+=("$@")
        return
        ;;
    esac
    common_option "$1" "${2-}" "${3-}"
    [[ $TAKEN != 0 ]] || recipe_option "$1" "${2-}" "${3-}"
    [[ $TAKEN != 0 ]] || fail "$(basename "$RECIPE") has no option '$1': see --help"
    [[ $TAKEN -lt 2 ]] || need_value "$1" "${2-}"
    [[ $TAKEN -lt 3 ]] || need_value "$1" "${3-}"
    shift "$TAKEN"
  done
}

# Put the suite's commands on the path: .venv where scripts/setup.sh made one, else the environment
# that is active, else a new .venv.
activate() {
  local venv=${FAIRSEQ_XL_VENV:-$ROOT/.venv}
  if [[ ! -x $venv/bin/fairseq-xl ]] && ! command -v fairseq-xl >/dev/null; then
    run bash "$ROOT/scripts/setup.sh" --venv "$venv"
  fi
  if [[ -d $venv/bin ]]; then PATH=$venv/bin:$PATH; fi
  export PATH PYTHONUNBUFFERED=1
}

# The folder that a recipe writes into: a new or empty one, or one that a recipe began. What is another's is left alone.
begin_in() { # FOLDER
  local mark=$1/.fairseq_xl-recipe
  if [[ $DRY_RUN == yes || -f $mark ]]; then return; fi
  [[ ! -e $1 || (-d $1 && -z $(ls -A -- "$1")) ]] ||
    fail "$1 holds files that no recipe wrote: name a new folder with --out"
  mkdir -p -- "$1"
  printf 'A recipe of fairseq_xl writes here, and replaces what it wrote.\n' >"$mark"
}

show() { # the command as one could paste it
  printf '%q ' "$@"
  printf '\n'
}

# Run a command; in a dry run print it instead.
run() {
  if [[ $DRY_RUN == yes ]]; then show "$@"; else "$@"; fi
}

# Files one after the other as one.
joined() { # OUTPUT FILE…
  if [[ $DRY_RUN == yes ]]; then
    printf '%s> %q\n' "$(show cat "${@:2}" | tr '\n' ' ')" "$1"
  else
    cat "${@:2}" >"$1.tmp"
    mv "$1.tmp" "$1"
  fi
}

# The same with its output in a log, whose end is shown when the command fails.
logged() { # LOG COMMAND…
  local log=$1 status=0
  shift
  if [[ $DRY_RUN == yes ]]; then
    show "$@"
    return
  fi
  mkdir -p "$(dirname "$log")"
  "$@" >"$log.tmp" 2>&1 || status=$?
  mv "$log.tmp" "$log"
  [[ $status == 0 ]] || failed_in "$log" "$1" "$status"
}

# The same for a training, whose log can be followed. One that goes on from checkpoints goes on in its log.
logged_training() { # LOG CHECKPOINTS COMMAND…
  local log=$1 checkpoints=$2 status=0
  shift 2
  if [[ $DRY_RUN == yes ]]; then
    show "$@"
    return
  fi
  mkdir -p "$(dirname "$log")"
  compgen -G "$checkpoints/*.pt" >/dev/null || : >"$log"
  "$@" >>"$log" 2>&1 || status=$?
  [[ $status == 0 ]] || failed_in "$log" "$1" "$status"
}

failed_in() { # LOG COMMAND STATUS
  local reason
  tail -n 20 "$1" >&2
  reason=$(tail -n 20 "$1" | sed -n 's/^error: //p' | tail -n 1)
  say "error: $2 ended with status $3${reason:+ ($reason)}; its output is in $1"
  exit "$3"
}

# What files and folders hold, for the settings of a stage.
fingerprint() {
  local file
  for file in "$@"; do
    if [[ -f $file ]]; then
      sha256sum <"$file" | cut -c1-16
    elif [[ -d $file ]]; then
      (cd "$file" && find -L . -type f -print0 | LC_ALL=C sort -z | xargs -0r sha256sum) | sha256sum | cut -c1-16
    else
      echo absent
    fi
  done | paste -sd ' ' -
}

# The same of FILE,KEY=VALUE… words, of which a value may name a file, too (labels=FILE).
fingerprint_sources() {
  local source part parts
  for source in "$@"; do
    [[ -n $source ]] || continue
    IFS=, read -ra parts <<<"$source"
    fingerprint "${parts[0]}"
    for part in "${parts[@]:1}"; do
      [[ ! -f ${part#*=} ]] || fingerprint "${part#*=}"
    done
  done | paste -sd ' ' -
}

# One process at a time in a folder that runs share: the others wait for it to prepare the data.
locked() { # FILE COMMAND…
  local lock=$1
  shift
  if [[ $DRY_RUN == yes ]]; then
    "$@"
    return
  fi
  if ! command -v flock >/dev/null; then
    [[ -n ${WITHOUT_FLOCK:-} ]] || say "there is no flock here (util-linux): let no other recipe use ${OUT:-it} meanwhile"
    WITHOUT_FLOCK=yes
    "$@"
    return
  fi
  local held
  mkdir -p "$(dirname "$lock")"
  exec {held}>"$lock"
  flock --nonblock "$held" || { say "waiting for another process at work in $(dirname "$lock")"; flock "$held"; }
  "$@"
  exec {held}>&-
}

# Within a stage: a training goes on from the checkpoints in FOLDER only if its settings and data are those they were
# begun with; fairseq-train itself would call a finished training of other settings done. Others are put aside.
claim_checkpoints() { # FOLDER
  local folder=$1 claim=$1.settings number=1 other
  if [[ $DRY_RUN == yes ]]; then return; fi
  if [[ -d $folder && ! (-f $claim && $(<"$claim") == "$STAGE_SETTINGS") ]]; then
    while [[ -e $folder.before.$number ]]; do number=$((number + 1)); done
    mv "$folder" "$folder.before.$number"
    if [[ -f $claim ]]; then mv "$claim" "$folder.before.$number.settings"; fi
    say "other settings or data than before: the earlier checkpoints are now in $folder.before.$number"
    for other in "$folder".before.*.settings; do
      if [[ -f $other && $(<"$other") == "$STAGE_SETTINGS" ]]; then
        say "these settings were there before: their checkpoints are $folder again"
        mv "${other%.settings}" "$folder"
        rm "$other"
        break
      fi
    done
  fi
  mkdir -p "$(dirname "$claim")"
  printf '%s\n' "$STAGE_SETTINGS" >"$claim.tmp"
  mv "$claim.tmp" "$claim"
}

# Refuses fewer epochs than a run has: fairseq-train would call that training done. Its log names the last epoch saved.
need_epochs() { # EPOCHS RUN OTHERWISE
  local trained=0
  if [[ -f $2/train.log ]] && compgen -G "$2/checkpoints/*.pt" >/dev/null; then
    trained=$(sed -n 's/.*Saved checkpoint .* (epoch \([0-9]*\) @ .*/\1/p' "$2/train.log" | tail -n 1)
  fi
  ((${trained:-0} <= $1)) || fail "--epochs is $1, and $2 has $trained already: give --epochs $trained or more, or $3"
}

# Within a stage: what it leaves. It is done again when one of these is gone.
makes() { MADE+=("$@"); }

# Whether all is there that a stage left; a line each, those in OUT without it, for OUT may be moved.
all_there() { # LIST
  local path
  [[ -f $1 ]] || return 0
  while IFS= read -r path; do
    [[ $path == /* ]] || path=$OUT/$path
    [[ -e $path ]] || { say "$path is gone: it is made again"; return 1; }
  done <"$1"
}

# stage NAME "EARLIER STAGES" FUNCTION SETTING…
# Runs FUNCTION unless the stamp of the last successful run shows the same settings and the same
# stamps of the earlier stages, and what it made is there. STAMPS is the folder of the stamps; a name may begin with
# FOLDER/.
stage() {
  if [[ $DRY_RUN == yes ]]; then
    printf '# %s\n' "$1"
    "$3"
    return
  fi
  locked "$STAMPS/$1.lock" stage_alone "$@"
}

stage_alone() {
  local name=$1 earlier=$2 work=$3 stamp=$STAMPS/$1 stamps other
  shift 3
  stamps=$(printf '%s\n' "$work" "$@")
  for other in $earlier; do
    stamps+=$'\n'"after $other $(fingerprint "$STAMPS/$other")"
  done
  if [[ -f $stamp && $(<"$stamp") == "$stamps" ]] && all_there "$stamp.made"; then
    say "== $name: done before"
    return
  fi
  say "== $name"
  rm -f "$stamp"
  STAGE_SETTINGS=$stamps MADE=()
  "$work"
  for other in "${MADE[@]}"; do
    [[ ! -e $other ]] || printf '%s\n' "${other#"$OUT/"}"
  done >"$stamp.made"
  printf '%s\n' "$stamps" >"$stamp.tmp"
  mv "$stamp.tmp" "$stamp"
}
