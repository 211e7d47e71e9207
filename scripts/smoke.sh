#!/usr/bin/env bash
# Builds the wheel, installs it into an empty environment of each Python and runs the main job there in miniature.
#
#   bash scripts/smoke.sh                              # every one of Python 3.11, 3.12 and 3.13 that is found
#   bash scripts/smoke.sh --installer pip 3.12         # plain `pip install WHEEL`, for one of them
#
# What runs, outside the clone and with the installed commands alone: doctor, a generated corpus, word vectors, fairseq's
# own preprocessing, a short training and generation, sacreBLEU, and the packed model on raw text. After so short a
# training the score is low; recipes/quickstart.sh trains long enough for a good one. The last lines say what came of each
# Python; the status is 1 where one failed.
#
# arguments: versions such as 3.12, or interpreters; one that is not found is then an error
# options:
#   --installer WHICH   setup (default): scripts/setup.sh --wheel, which needs no compiler and no second torch;
#                       pip: plain pip install, which builds fairseq in full where it has no wheel
#   --wheel FILE        try this wheel instead of building one from the clone
#   --require           all of 3.11, 3.12 and 3.13 must be there
#   --keep DIR          work in this new folder and leave everything there (default: a temporary folder)
set -euo pipefail
# shellcheck source=recipes/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../recipes/lib/common.sh"

INSTALLER=setup REQUIRE=no KEEP='' WHEEL='' WANTED=()
while [[ $# -gt 0 ]]; do
  case $1 in
    -h | --help)
      usage "${BASH_SOURCE[0]}"
      exit 0
      ;;
    --require)
      REQUIRE=yes
      shift
      ;;
    --installer | --keep | --wheel)
      need_value "$@"
      case $1 in
        --installer) INSTALLER=$2 ;;
        --keep) KEEP=$(absolute "$2") ;;
        --wheel) WHEEL=$(absolute "$2") ;;
      esac
      shift 2
      ;;
    -*) fail "smoke.sh has no option '$1': see --help" ;;
    *)
      WANTED+=("$1")
      shift
      ;;
  esac
done
[[ $INSTALLER == setup || $INSTALLER == pip ]] || fail "--installer is '$INSTALLER': use setup or pip"
[[ -z $WHEEL ]] || need_file "$WHEEL" wheel
if [[ ${#WANTED[@]} == 0 ]]; then WANTED=(3.11 3.12 3.13); else REQUIRE=yes; fi

# The clone must not be found by accident, and its user's own packages are no part of the environment.
unset PYTHONPATH PYTHONHOME
export PYTHONNOUSERSITE=1

# An interpreter by its version or name, as it calls itself: python3.12 on the path, or one that uv knows.
interpreter() { # VERSION-OR-NAME
  local candidate=$1 named=''
  if [[ $1 =~ ^3(\.[0-9]+)+$ ]]; then
    candidate=python$1
    if ! "$candidate" -c '' 2>/dev/null && command -v uv >/dev/null; then
      named=$(uv python find --no-project "$1" 2>/dev/null || true)
      candidate=${named:-$candidate}
    fi
  fi
  "$candidate" -c 'import sys; print(sys.executable)' 2>/dev/null
}

PYTHONS=() MISSING=()
for name in "${WANTED[@]}"; do
  if ! python=$(interpreter "$name"); then
    MISSING+=("$name")
  elif [[ " ${PYTHONS[*]} " != *" $python "* ]]; then
    PYTHONS+=("$python")
  fi
done
if [[ ${#MISSING[@]} != 0 ]]; then
  if [[ $REQUIRE == yes ]]; then fail "there is no Python ${MISSING[*]} here: put it on the path, or give uv one"; fi
  say "not found, and not tried: Python ${MISSING[*]}"
fi
[[ ${#PYTHONS[@]} != 0 ]] || fail "none of Python 3.11, 3.12 and 3.13 is on the path or known to uv"

if [[ -n $KEEP ]]; then
  [[ ! -e $KEEP || -z $(ls -A "$KEEP") ]] || fail "$KEEP exists and is not empty: name a new folder"
  mkdir -p "$KEEP"
  WORK=$KEEP
else
  WORK=$(mktemp -d "${TMPDIR:-/tmp}/fairseq_xl-smoke.XXXXXX")
  trap 'rm -rf "$WORK"' EXIT
fi

# From a copy: the build leaves folders beside setup.py. Its caches are no part of what is tracked either.
build() { # INTERPRETER
  mkdir -p "$WORK/source" "$WORK/dist"
  (cd "$ROOT" && tar --exclude=__pycache__ -cf - fairseq_xl setup.py pyproject.toml MANIFEST.in README.md LICENSE) |
    tar -xf - -C "$WORK/source"
  logged "$WORK/build.log" "$1" -m venv "$WORK/build"
  logged "$WORK/build.log" "$WORK/build/bin/python" -m pip wheel --no-deps --wheel-dir "$WORK/dist" "$WORK/source"
  WHEEL=$(echo "$WORK"/dist/*.whl)
}

install() { # INTERPRETER FOLDER
  if [[ $INSTALLER == setup ]]; then
    logged "$2/install.log" bash "$ROOT/scripts/setup.sh" --python "$1" --venv "$2/env" --extras none --wheel "$WHEEL"
  else
    logged "$2/install.log" "$1" -m venv "$2/env"
    logged "$2/install.log" "$2/env/bin/python" -m pip install "$WHEEL"
  fi
}

smoke() { # FOLDER, whose environment holds the wheel
  local log=$1/log plugin
  cd "$1"
  export PATH=$1/env/bin:$PATH OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
  logged "$log/version" fairseq-xl --version
  logged "$log/doctor" fairseq-xl doctor
  plugin=$(fairseq-xl user-dir)
  [[ $plugin == "$1"/env/* ]] || { say "error: fairseq-xl user-dir says $plugin, which is not in $1/env"; exit 1; }
  logged "$log/corpus" fairseq-xl data synthetic --output text --train 600 --valid 30 --test 30 --monolingual 2000
  logged "$log/vectors" fairseq-xl vectors train text/train.en text/mono.en --output en \
    --dim 50 --epoch 15 --lr 0.2 --min-count 1 --buckets 10000 --threads 1 --quiet
  logged "$log/preprocess" fairseq-preprocess --source-lang qel --target-lang en \
    --trainpref text/train --validpref text/valid --testpref text/test --destdir bin
  logged "$log/train" fairseq-train bin --user-dir "$plugin" --arch continuous_lstm_tiny --criterion syn_margin_proj \
    --target-vectors en.vec --optimizer adam --lr 0.02 --lr-scheduler inverse_sqrt --warmup-updates 20 \
    --clip-norm 1 --batch-size 32 --seed 1 --max-update 60 --save-dir checkpoints --no-epoch-checkpoints
  # One limit for all lengths: fairseq's --max-len-a counts the longest source of a batch, and the two commands below
  # make different batches.
  logged "$log/generate" fairseq-generate bin --user-dir "$plugin" --path checkpoints/checkpoint_best.pt \
    --gen-subset test --beam 5 --max-len-b 15
  logged "$log/hypotheses" fairseq-xl data hypotheses "$log/generate" --output generated --like text/test.en
  logged "$log/score" sacrebleu text/test.en --input generated --format text --force
  logged "$log/pack" fairseq-xl translate pack checkpoints/checkpoint_best.pt --data bin --source-lang qel --target-lang en \
    --tokenizer none --beam 5 --max-len-b 15 --output model
  logged "$log/translate" fairseq-xl translate text model --input text/test.qel --output translated
  cmp generated translated >&2 || { say "error: fairseq-xl translate text and fairseq-generate differ"; exit 1; }
}

if [[ -z $WHEEL ]]; then
  say "== building the wheel"
  build "${PYTHONS[0]}"
fi
say "== $(basename "$WHEEL")"

REPORT=() failed=no
for python in "${PYTHONS[@]}"; do
  version=$("$python" -c 'import platform; print(platform.python_version())')
  folder=$WORK/$version
  mkdir "$folder"
  say "== Python $version: installing by $INSTALLER"
  set +e # a failure ends the subshell, not what comes after it
  SECONDS=0
  (set -e; install "$python" "$folder")
  status=$?
  installing=$SECONDS result=''
  if [[ $status == 0 ]]; then
    say "== Python $version: the main job in miniature"
    SECONDS=0
    (set -e; smoke "$folder")
    status=$?
    result=", smoke test $SECONDS s"
  fi
  set -e
  if [[ $status == 0 ]]; then
    torch=$("$folder/env/bin/python" -c 'import torch; print(torch.__version__)')
    REPORT+=("Python $version, torch $torch: passed; installing $installing s$result; $(tail -n 1 "$folder/log/score")")
  else
    failed=yes
    REPORT+=("Python $version: FAILED; installing $installing s$result")
  fi
  [[ -n $KEEP ]] || rm -rf "$folder" # an environment can take gigabytes
done
printf '%s\n' "${REPORT[@]}"
[[ $failed == no ]]
