#!/usr/bin/env bash
# A translator from sentence pairs of your own, in any two languages.
#
#   bash recipes/train.sh --train PREFIX --src xx --tgt yy --out OUT [--valid PREFIX] [--test PREFIX] …
#
# Cleans, tokenises and truecases (where a language has case), trains target vectors on the target side, preprocesses,
# trains with the settings that were tuned on Multi30k, translates the test set at beam 1 and 5, scores the plain text
# with sacreBLEU, and packs OUT/runs/NAME/model, which translates raw text. At the end it prints how. Finished stages
# are skipped: start it again after an interruption, or with another loss or seed in the same --out.
#
#   --train PREFIX     PREFIX.xx and PREFIX.yy, a sentence a line; or one file of pairs in columns separated by tabs.
#                      Any of them may end in .gz
#   --src, --tgt       codes of the two languages, such as de and en
#   --out DIR          everything is written here: DIR/prepared (shared by all runs) and DIR/runs/NAME
#   --valid, --test    development and test set, given in the same way. Where there is none, pairs of --train are held
#                      out that share no sentence with the others: they are in DIR/prepared/xx-yy/split
#   --held-out N       pairs to hold out for each such set (default: a twentieth of them, 2,000 at most)
#   --columns 'S T'    which columns of a file are source and target (default: '1 2'; Tatoeba's lists have '2 1')
#   --trust-languages  do not look whether the two sides are the wrong way round
#   --vector-epochs N  epochs of fastText (default: 5, and up to 100 for small text, whose vectors would all be alike)
#   --size N           default: 256
#   --epochs N         default: 16; softmax outputs, vmf_posterior and combined 8; stock 14; stock_transformer 80; from
#                      100,000 pairs on 8, 5, 8 and 30
#   --vectors FILE     refused where less than half of the words have one: they are of another language, then
#   --transform 'OPTIONS'  default: '--normalize-first --center --normalize'
#   --source-min-count N, --target-min-count N  default: 2, and 50,000 words at most
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
. "$(dirname "${BASH_SOURCE[0]}")/lib/translation.sh"

# With fewer there is nothing to learn from.
LEAST_PAIRS=500

defaults
tuned_defaults
SRC='' TGT='' VECTOR_EPOCHS='' TRAIN='' VALID='' HELD_OUT='' COLUMNS='' TRUST=() TEST_AS_OWN=yes MIN_COVERAGE=0.5

recipe_option() {
  TAKEN=2
  case $1 in
    --train) TRAIN=$(absolute "$2") ;;
    --valid) VALID=$(absolute "$2") ;;
    --held-out) HELD_OUT=$2 ;;
    --columns) COLUMNS=$2 ;;
    --trust-languages) TRUST=(--trust-languages) TAKEN=1 ;;
    *) TAKEN=0 ;;
  esac
}
read_options "$0" "$@"
TEST_SET=$TEST TEST=''
[[ -n $SRC ]] || fail "--src is missing: give the code of the language to translate from"
[[ -n $TGT ]] || fail "--tgt is missing: give the code of the language to translate to"
[[ -n $TRAIN ]] || fail "--train is missing: give PREFIX of PREFIX.$SRC and PREFIX.$TGT, or a file of pairs"
[[ -z $COLUMNS || -f $TRAIN || -f $VALID || -f $TEST_SET || ! -e $TRAIN.$SRC && ! -e $TRAIN.$SRC.gz ]] ||
  fail "--columns is for one file of pairs, and --train names two: leave it out"
COLUMNS=${COLUMNS:-1 2}
[[ -z $HELD_OUT || -z $VALID || -z $TEST_SET ]] || fail "--held-out has no effect beside --valid and --test: leave it out"
[[ $COLUMNS =~ ^[1-9][0-9]?\ [1-9][0-9]?$ ]] || fail "--columns is '$COLUMNS': give two numbers, such as '2 1'"
[[ ${COLUMNS% *} != "${COLUMNS#* }" ]] || fail "--columns is '$COLUMNS': source and target are one column: name two"

# The files of a set, each of which is there and holds something.
files_of() { # OPTION PREFIX
  local language file
  if [[ -f $2 ]]; then
    need_file "$2" "file of pairs for $1,"
    FILES+=("$2")
    return
  fi
  for language in "$SRC" "$TGT"; do
    file=$2.$language
    [[ -f $file || ! -f $file.gz ]] || file+=.gz
    need_file "$file" "text for $1,"
    FILES+=("$file")
  done
}

# PAIRS, and in BYTES the text that the vectors see.
measure_text() {
  local file sides=${#FILES[@]} lines bytes counted
  PAIRS='' BYTES=0
  for file in "${FILES[@]}" ${MONO:+"$MONO"}; do
    counted=$(lines_and_bytes "$file")
    read -r lines bytes <<<"$counted"
    [[ -n $PAIRS ]] || PAIRS=$lines
    if [[ $file == "${FILES[0]}" ]]; then
      # One file has both sides; of two, the first is the source's.
      bytes=$((sides == 1 ? bytes / 2 : 0))
    fi
    BYTES=$((BYTES + bytes))
  done
}

check_recipe() { [[ -z $DATA ]] || fail "--data is for the recipes of published data: name yours with --train"; }

plain_files() {
  local sets=() columns
  read -ra columns <<<"$COLUMNS"
  [[ -z $VALID ]] || sets+=(--valid-set "$VALID")
  [[ -z $TEST_SET ]] || sets+=(--test-set "$TEST_SET")
  campaign_rules
  split_pairs "$TRAIN" --columns "${columns[@]}" --valid "$HELD_OUT" --test "$HELD_OUT" "${sets[@]}" \
    --least "$LEAST_PAIRS" "${TRUST[@]}"
}

plain_stages() {
  stage plain '' plain_files "$HELD_OUT" "$COLUMNS" "$VALID" "$TEST_SET" "$(fingerprint "${FILES[@]}")"
}

FILES=()
files_of --train "$TRAIN"
[[ -z $MONO ]] || need_file "$MONO" "text for --mono,"
measure_text
[[ -z $VALID ]] || files_of --valid "$VALID"
[[ -z $TEST_SET ]] || files_of --test "$TEST_SET"
((PAIRS >= LEAST_PAIRS)) || fail "--train has $PAIRS pairs, too few to learn from: give $LEAST_PAIRS or more"
sized_defaults "$PAIRS"
# After 5 epochs of 20,000 short sentences (0.4 MB) all vectors were alike: the mean cosine of two words was 0.16 and the
# model chose the right word in 20 % of places; after 100 it was 0.002.
if [[ -z $VECTOR_EPOCHS ]]; then
  VECTOR_EPOCHS=$((40000000 / (BYTES + 1)))
  ((VECTOR_EPOCHS > 5)) || VECTOR_EPOCHS=5
  ((VECTOR_EPOCHS < 100)) || VECTOR_EPOCHS=100
fi
LIMITS+=(--nwordssrc 50000 --nwordstgt 50000)
if [[ -z $HELD_OUT ]]; then
  HELD_OUT=$((PAIRS / 20 < 2000 ? PAIRS / 20 : 2000))
fi
need_count --held-out "$HELD_OUT"

translation_recipe
next_steps
