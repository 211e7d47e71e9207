#!/usr/bin/env bash
# Translation with continuous outputs on Multi30k (29,000 image captions; German, French, English).
#
#   bash recipes/multi30k.sh --out DIR [--data DIR] [--src de] [--tgt en] [--loss syn_margin_proj] …
#
# Tokenises and truecases, trains target vectors on the target side, preprocesses, trains, translates
# test_2016_flickr at beam 1 and 5, and scores the plain text with sacreBLEU. DIR/runs/NAME/model then
# translates raw text: `fairseq-xl translate text DIR/runs/NAME/model <in >out`. Finished stages are skipped:
# start it again after an interruption, or with another loss or seed in the same --out.
#
#   --out DIR          everything is written here: DIR/prepared (shared by all runs) and DIR/runs/NAME
#   --data DIR         folder with train, val, test_2016_flickr .de .en .fr (or .gz); else downloaded
#   --url URL          another address to download them from
#   --src, --tgt       de, fr or en (default: de to en)
#   --size N           default: 256
#   --epochs N         default: 16; softmax outputs, vmf_posterior and combined 8; stock 14; stock_transformer 80
#   --transform 'OPTIONS'  default: '--normalize-first --center --normalize'
#   --source-min-count N, --target-min-count N  default: 2
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
. "$(dirname "${BASH_SOURCE[0]}")/lib/translation.sh"

defaults
tuned_defaults
sized_defaults 29000
PUBLISHED=https://raw.githubusercontent.com/multi30k/dataset/a3d2e0d26b56f3846f66a952536ffed4e401d05a/data/task1/raw
recipe_option() {
  TAKEN=2
  case $1 in
    --url) URL=$2 ;;
    *) TAKEN=0 ;;
  esac
}
read_options "$0" "$@"
URL=${URL:-$PUBLISHED}

raw() { # the published file of a set and language, compressed or not
  if [[ -n $FETCHED || ( ! -f $DATA/$1 && -f $DATA/$1.gz ) ]]; then
    echo "$DATA/$1.gz"
  else
    echo "$DATA/$1"
  fi
}

FILES=()
for set in train val test_2016_flickr; do FILES+=("$set.$SRC" "$set.$TGT"); done
FETCHED=''

check_recipe() {
  local language file
  for language in "$SRC" "$TGT"; do
    [[ $language =~ ^(de|fr|en)$ ]] || fail "Multi30k has no language '$language': choose de, fr or en"
  done
  [[ -z $DATA ]] || for file in "${FILES[@]}"; do need_file "$(raw "$file")" "Multi30k file"; done
}

fetch_files() {
  local file
  for file in "${FILES[@]}"; do
    run fairseq-xl data fetch "$URL/$file.gz" --output "$DATA/$file.gz" \
      --otherwise "download Multi30k elsewhere and give its folder with --data DIR"
    makes "$DATA/$file.gz"
  done
}

plain_files() {
  clean_pair "$(raw "train.$SRC")" "$(raw "train.$TGT")" "$PREPARED/plain/train" --empty drop
  clean_pair "$(raw "val.$SRC")" "$(raw "val.$TGT")" "$PREPARED/plain/valid" --empty keep
  clean_pair "$(raw "test_2016_flickr.$SRC")" "$(raw "test_2016_flickr.$TGT")" \
    "$PREPARED/plain/test" --empty keep
}

plain_stages() {
  if [[ -z $DATA ]]; then
    name_mirror
    DATA=$OUT/raw$MIRROR FETCHED=fetch
    stage fetch '' fetch_files "$URL" "$MIRROR"
  fi
  local files=()
  for file in "${FILES[@]}"; do files+=("$(raw "$file")"); done
  stage plain "$FETCHED" plain_files "$(fingerprint "${files[@]}")"
}

translation_recipe
