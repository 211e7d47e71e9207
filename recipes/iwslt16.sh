#!/usr/bin/env bash
# Translation with continuous outputs on IWSLT'16 (TED talks), set up as in Bhat, Kumar and Tsvetkov 2019.
#
#   bash recipes/iwslt16.sh --src fr --tgt en --out DIR [--data DIR] [--mono FILE] [--loss vmf] …
#
# About 200,000 training pairs, 50,000-word vocabularies; development sets tst2013 and tst2014, which
# select the checkpoint; test sets tst2015 and tst2016; Adam at 5e-4, no dropout, up to 20 epochs. A
# GPU is advised. DIR/runs/NAME/model then translates raw text (`fairseq-xl translate text`). Finished stages are
# skipped, as in multi30k.sh.
#
#   --out DIR          everything is written here: DIR/prepared (shared by all runs) and DIR/runs/NAME
#   --data DIR         folder with the campaign's own files, at any depth: train.tags.fr-en.fr,
#                      IWSLT16.TED.tst2013.fr-en.fr.xml, …; else downloaded
#   --url URL          address of the archive with the training text (a mirror of the campaign's)
#   --src, --tgt       fr or de to en (default: fr to en); other codes where --data or --url holds their training text
#   --arch ARCH        default: continuous_lstm_iwslt16 (the paper's sizes); continuous_transformer_iwslt
#                      is the baseline stock_transformer with another output
#   --size N           default: 0, the architecture's own
#   --epochs N         default: 20 (stock_transformer: 50)
#   --mono FILE        the paper trains its vectors on 4 billion words
#   --source-min-count N, --target-min-count N  default: 1, and 50,000 words at most
#   --dev-sets 'A B'   default: 'tst2013 tst2014'
#   --test-sets 'A B'  default: 'tst2015 tst2016'
#
# A set whose files --data does not hold is taken from sacreBLEU's iwslt17/SET, which downloads it. sacreBLEU has these sets
# of de, fr and zh with en alone.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
. "$(dirname "${BASH_SOURCE[0]}")/lib/translation.sh"

defaults
SRC=fr ARCH=continuous_lstm_iwslt16 SIZE=0 CONTINUOUS_EPOCHS=20 SOFTMAX_EPOCHS=20 STOCK_EPOCHS=20
DROPOUT=0.0 LEARNING_RATE=5e-4 BATCH_TOKENS=4096 VECTOR_MIN_COUNT=5 VECTOR_BUCKETS=2000000
LIMITS=(--nwordssrc 50000 --nwordstgt 50000)
DEV_SETS='tst2013 tst2014' TEST_SETS='tst2015 tst2016'

recipe_option() {
  TAKEN=2
  case $1 in
    --url) URL=$2 ;;
    --dev-sets) DEV_SETS=$2 ;;
    --test-sets) TEST_SETS=$2 ;;
    *) TAKEN=0 ;;
  esac
}
read_options "$0" "$@"

# The address that the campaign's pages gave. The archive has moved before: a mirror goes in with --url.
# (The whole release, 2016-01.tgz, has MD5 c393ed3fc2a1b0f004b3331043f615ae; texts/fr/en/fr-en.tgz in
# it is what is wanted here.)
PUBLISHED=https://wit3.fbk.eu/archive/2016-01/texts/$SRC/$TGT/$SRC-$TGT.tgz
URL=${URL:-$PUBLISHED}
ELSEWHERE="give a mirror with --url, or the campaign's files with --data DIR"

check_recipe() {
  [[ $SRC =~ ^[a-z]{2,3}$ && $TGT =~ ^[a-z]{2,3}$ ]] ||
    fail "--src '$SRC' and --tgt '$TGT' must be language codes such as fr and en"
  local set
  [[ -n $DEV_SETS && -n $TEST_SETS ]] || fail "--dev-sets and --test-sets must name at least one set each"
  for set in $DEV_SETS; do need_name --dev-sets "$set"; done
  for set in $TEST_SETS; do need_name --test-sets "$set"; done
}

# The file of that name below --data, or nothing.
campaign_file() { # PATTERN
  [[ -d $DATA ]] || return 0
  find -L "$DATA" -type f -name "$1" | LC_ALL=C sort | head -n 1
}

fetch_archive() {
  run fairseq-xl data fetch "$URL" --output "$DATA.tgz" --unpack "$DATA" --otherwise "$ELSEWHERE"
  makes "$DATA"
}

training_text() {
  local source target
  source=$(campaign_file "train.tags.$SRC-$TGT.$SRC")
  target=$(campaign_file "train.tags.$SRC-$TGT.$TGT")
  if [[ $DRY_RUN == no && ( -z $source || -z $target ) ]]; then
    fail "$DATA holds no train.tags.$SRC-$TGT.$SRC and .$TGT: give the folder of the campaign's files"
  fi
  run fairseq-xl data campaign --source "${source:-train.tags.$SRC-$TGT.$SRC}" \
    --target "${target:-train.tags.$SRC-$TGT.$TGT}" \
    --output "$PREPARED/campaign/train.$SRC" "$PREPARED/campaign/train.$TGT"
  campaign_rules
  clean_pair "$PREPARED/campaign/train.$SRC" "$PREPARED/campaign/train.$TGT" "$PREPARED/plain/train" "${TRAIN_RULES[@]}"
}

# One development or test set as plain text, from the campaign's XML or else from sacreBLEU.
held_out_set() { # SET PREFIX
  local source target language side
  source=$(campaign_file "*.$1.$SRC-$TGT.$SRC.xml")
  target=$(campaign_file "*.$1.$SRC-$TGT.$TGT.xml")
  # The references of the campaign's last sets came as the sources of the opposite direction.
  target=${target:-$(campaign_file "*.$1.$TGT-$SRC.$TGT.xml")}
  if [[ -n $source && -n $target ]]; then
    run fairseq-xl data campaign --source "$source" --target "$target" --output "$2.$SRC" "$2.$TGT"
    return
  fi
  for side in src ref; do
    language=$SRC
    [[ $side == src ]] || language=$TGT
    if [[ $DRY_RUN == yes ]]; then
      show sacrebleu --test-set "iwslt17/$1" --language-pair "$SRC-$TGT" --echo "$side"
      continue
    fi
    mkdir -p "$(dirname "$2")"
    sacrebleu --test-set "iwslt17/$1" --language-pair "$SRC-$TGT" --echo "$side" \
      >"$2.$language.tmp" 2>"$2.$language.log" ||
      fail "$1 ($SRC-$TGT) is not in ${DATA:-the download} and sacreBLEU cannot fetch it" \
        "(see $2.$language.log): $ELSEWHERE"
    mv "$2.$language.tmp" "$2.$language"
  done
}

# Several sets one after the other as one.
held_out_text() { # NAME SET…
  local name=$1 set language parts
  shift
  for set in "$@"; do held_out_set "$set" "$PREPARED/campaign/$set"; done
  for language in "$SRC" "$TGT"; do
    parts=()
    for set in "$@"; do parts+=("$PREPARED/campaign/$set.$language"); done
    joined "$PREPARED/campaign/$name.$language" "${parts[@]}"
  done
  clean_pair "$PREPARED/campaign/$name.$SRC" "$PREPARED/campaign/$name.$TGT" "$PREPARED/plain/$name" \
    --empty keep
}

plain_files() {
  local dev test
  read -ra dev <<<"$DEV_SETS"
  read -ra test <<<"$TEST_SETS"
  training_text
  held_out_text valid "${dev[@]}"
  held_out_text test "${test[@]}"
}

plain_stages() {
  local fetched='' files=() file set
  if [[ -z $DATA ]]; then
    name_mirror
    DATA=$OUT/raw$MIRROR/$SRC-$TGT fetched=fetch
    stage fetch '' fetch_archive "$URL" "$MIRROR"
  fi
  for set in $DEV_SETS $TEST_SETS; do
    files+=("$(campaign_file "*.$set.$SRC-$TGT.$SRC.xml")" "$(campaign_file "*.$set.$SRC-$TGT.$TGT.xml")"
      "$(campaign_file "*.$set.$TGT-$SRC.$TGT.xml")")
  done
  for file in "$SRC" "$TGT"; do files+=("$(campaign_file "train.tags.$SRC-$TGT.$file")"); done
  stage plain "$fetched" plain_files "$DEV_SETS" "$TEST_SETS" "$(fingerprint "${files[@]}")"
}

translation_recipe
