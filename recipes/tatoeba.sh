#!/usr/bin/env bash
# Translation with continuous outputs on short sentences of Tatoeba (165,800 German-English pairs).
#
#   bash recipes/tatoeba.sh --out DIR --data deu-eng.tsv [--src de] [--tgt en] [--loss syn_margin_proj] …
#
# Cuts the pairs into training, development and test text that have no sentence in common, and then does
# what multi30k.sh does. The lists are to be had at https://www.manythings.org/anki, one archive a language.
#
#   --out DIR          everything is written here: DIR/prepared (shared by all runs) and DIR/runs/NAME
#   --data FILE        lines ENGLISH tab OTHER LANGUAGE, as the lists have them
#   --src, --tgt       language codes of the other language and en, either way (default: de to en)
#   --held-out N       pairs of the development and of the test set (default: 2000)
#   --size N           default: 256
#   --epochs N         default: 8; softmax outputs, vmf_posterior and combined 5; stock 8; stock_transformer 30.
#                      For a list below 100,000 pairs: 16, 8, 14 and 80
#   --transform 'OPTIONS'  default: '--normalize-first --center --normalize'
#   --source-min-count N, --target-min-count N  default: 2
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
. "$(dirname "${BASH_SOURCE[0]}")/lib/translation.sh"

defaults
tuned_defaults
HELD_OUT=2000
IS_FILE=yes # what --data names

recipe_option() {
  TAKEN=2
  case $1 in
    --held-out) HELD_OUT=$2 ;;
    *) TAKEN=0 ;;
  esac
}
read_options "$0" "$@"
# Without a list check_recipe says so.
if [[ -f $DATA ]]; then
  COUNTED=$(lines_and_bytes "$DATA")
  read -r PAIRS _ <<<"$COUNTED"
  sized_defaults "$PAIRS"
fi

check_recipe() {
  need_count --held-out "$HELD_OUT"
  [[ $SRC == en || $TGT == en ]] || fail "one of --src and --tgt must be en: the lists are English and another language"
  [[ -n $DATA ]] || fail "--data is missing: give a list of sentence pairs from https://www.manythings.org/anki"
  need_file "$DATA" "list of pairs for --data,"
}

plain_files() {
  local columns=(2 1)
  [[ $SRC != en ]] || columns=(1 2)
  split_pairs "$DATA" --columns "${columns[@]}" --valid "$HELD_OUT" --test "$HELD_OUT"
}

plain_stages() { stage plain '' plain_files "$HELD_OUT" "$(fingerprint "$DATA")"; }

translation_recipe
