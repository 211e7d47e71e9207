#!/usr/bin/env bash
# The corpora of four manuals in English, French and Spanish, the models that they train, and what these know of other
# pairs: the tables of docs/results/corpus.md. Each part is a run of recipes/semantic_similarity.sh in a folder of its own,
# but for `encoders`: three runs in that of `one-manual`. What is done is skipped: start it again after an interruption.
#
#   bash recipes/experiments/manuals.sh --out DIR --manual FOLDER … --tatoeba DIR …
#
#   --out DIR         everything is written here; the tables are in DIR/PART/tables
#   --manual FOLDER   a manual's HTML files, in folders named by their languages or linked by hreflang; repeatable.
#                     Debian's packages apache2-doc, libreoffice-help-en-us (-fr, -es), debian-handbook and
#                     installation-guide-amd64 have the four. Give Apache's first: it is the one of `one-manual`
#   --tatoeba DIR     {fra,spa,deu,nld}-eng.tsv, English first: more text for word vectors, words that translate each other,
#                     and English paraphrases
#   --msrp FILE       msr_paraphrase_train.txt, to judge and to train on
#   --stsb DIR        stsb-{en,fr,es}-dev.csv, to rank
#   --parts 'PART …'  manuals      French, Spanish and both, ten folds each
#                     unmatched    the same corpora without matched negatives, no training
#                     paraphrases  English paraphrases alone, ten folds, on the word vectors of `manuals`
#                     with-paraphrases   these and both corpora of `manuals`, three folds
#                     one-manual   the first manual's corpora, ten folds each
#                     encoders     the other three sentence encoders on the first manual's French corpus
#                     (default: all)
#   --prepare-only    stop before training
#   --dry-run         print the commands and run none
#   -- OPTION…        further options of fairseq-train
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/../lib/common.sh"

ALL_PARTS='manuals unmatched paraphrases with-paraphrases one-manual encoders'
OUT='' MANUALS=() TATOEBA='' MSRP='' STSB='' PARTS=$ALL_PARTS PREPARE_ONLY=no TUNING=()

recipe_option() {
  TAKEN=2
  case $1 in
    --dry-run) DRY_RUN=yes TAKEN=1 ;;
    --prepare-only) PREPARE_ONLY=yes TAKEN=1 ;;
    --out) OUT=$(absolute "$2") ;;
    --manual) MANUALS+=("$(absolute "$2")") ;;
    --tatoeba) TATOEBA=$(absolute "$2") ;;
    --msrp) MSRP=$(absolute "$2") ;;
    --stsb) STSB=$(absolute "$2") ;;
    --parts) PARTS=$2 ;;
    *) TAKEN=0 ;;
  esac
}
read_options "$0" "$@"

check_settings() {
  local word earlier=''
  [[ -n $OUT ]] || fail "--out is missing: name the folder for corpora, checkpoints and tables"
  need_folder_name --out "$OUT"
  ((${#MANUALS[@]} > 0)) || fail "--manual is missing: name a folder of HTML files"
  for word in "${MANUALS[@]}"; do [[ -d $word ]] || fail "there is no folder --manual $word: check the name"; done
  [[ -n $TATOEBA ]] || fail "--tatoeba is missing: name the folder with fra-eng.tsv and the like"
  for word in fra spa deu nld; do need_file "$TATOEBA/$word-eng.tsv" "file of sentence pairs,"; done
  [[ -z $MSRP ]] || need_file "$MSRP" "file of paraphrases,"
  if [[ -n $STSB ]]; then
    for word in en fr es; do need_file "$STSB/stsb-$word-dev.csv" "file of graded similarities,"; done
  fi
  for word in $PARTS; do
    one_of "$word" "$ALL_PARTS" || fail "--parts has '$word': choose from $ALL_PARTS"
    [[ $word != *paraphrases ]] || one_of manuals "$earlier" || [[ -f $OUT/manuals/vectors/en.vec ]] ||
      fail "--parts $word needs the word vectors of manuals: name that part before it"
    earlier+=" $word"
  done
}

# Tatoeba's sentences as pair classifiers read them, line by line beside their translations, and the most likely
# translation of each word.
make_lexicon() { # of CODE, with PAIRS
  run fairseq-xl match words "$PAIRS,1" --every-line --output "$OUT/lexicons/$CODE.en.txt"
  run fairseq-xl match words "$PAIRS,2" --every-line --output "$OUT/lexicons/$CODE.txt"
  run fairseq-xl data lexicon "$OUT/lexicons/$CODE.txt" "$OUT/lexicons/$CODE.en.txt" --best 1 \
    --output "$OUT/lexicons/$CODE-en.tsv"
  makes "$OUT/lexicons/$CODE.en.txt" "$OUT/lexicons/$CODE.txt" "$OUT/lexicons/$CODE-en.tsv"
}

find_paraphrases() {
  run fairseq-xl corpus paraphrases "$TATOEBA"/{fra,spa,deu,nld}-eng.tsv \
    --encoder "vectors:$OUT/manuals/vectors/en.vec" --output "$OUT/paraphrases.corpus"
  makes "$OUT/paraphrases.corpus"
}

similarity() { # PART OPTION…
  local until=()
  [[ $PREPARE_ONLY == no ]] || until=(--prepare-only)
  run bash "$ROOT/recipes/semantic_similarity.sh" --out "$OUT/$1" --languages "$CODES" "${until[@]}" "${@:2}"
}

check_settings
begin_in "$OUT"
activate
STAMPS=$OUT/stamps
declare -A TATOEBA_CODES=([fr]=fra [es]=spa)
for CODE in fr es; do
  PAIRS=$TATOEBA/${TATOEBA_CODES[$CODE]}-eng.tsv
  stage "lexicons/$CODE" '' make_lexicon "$(fingerprint "$PAIRS")"
done

CODES='en fr es'
BASES=() PARAPHRASES=() GRADED=()
for MANUAL in "${MANUALS[@]}"; do BASES+=(--base "$MANUAL"); done
TEXTS=(--text "en=$OUT/lexicons/fr.en.txt" --text "en=$OUT/lexicons/es.en.txt" --text "fr=$OUT/lexicons/fr.txt"
  --text "es=$OUT/lexicons/es.txt")
DICTIONARIES=(--dictionary "fr=$OUT/lexicons/fr-en.tsv" --dictionary "es=$OUT/lexicons/es-en.tsv" --refine 0)
ALIGNED=(--set extract.unequal=keep --set align.method=dynamic)
NEGATIVES=(--set topics.step=15 --set topics.passes=300 --set negatives.low=0.5 --set negatives.each=10
  --set export.paired=true)
MATCHED=(--set negatives.length=1 --set negatives.overlap=0.05)
[[ -z $MSRP ]] ||
  PARAPHRASES=(--paraphrases "$MSRP,left=#1 String,right=#2 String,label=Quality" --paraphrase-epochs 10)
if [[ -n $STSB ]]; then
  for CODE in $CODES; do GRADED+=(--sts "$CODE=$STSB/stsb-$CODE-dev.csv,left=1,right=2,score=3"); done
fi
MODEL=(-- --hidden-dim 128 --batch-size 64 "${TUNING[@]}")

for PART in $PARTS; do
  say "== $PART"
  case $PART in
    manuals)
      similarity manuals "${BASES[@]}" "${TEXTS[@]}" "${DICTIONARIES[@]}" "${ALIGNED[@]}" "${NEGATIVES[@]}" \
        "${MATCHED[@]}" --epochs-for joint:4 "${PARAPHRASES[@]}" ${MSRP:+--transfer-from 'fr joint'} "${GRADED[@]}" \
        "${MODEL[@]}"
      ;;
    unmatched)
      similarity unmatched "${BASES[@]}" "${TEXTS[@]}" "${DICTIONARIES[@]}" "${ALIGNED[@]}" "${NEGATIVES[@]}" --prepare-only
      ;;
    paraphrases | with-paraphrases)
      stage paraphrases '' find_paraphrases "$(fingerprint "$TATOEBA"/{fra,spa,deu,nld}-eng.tsv "$OUT/manuals/vectors/en.vec")"
      READY=(--corpus "en=$OUT/paraphrases.corpus")
      for CODE in fr es; do READY+=(--corpus "$CODE=$OUT/manuals/corpus/en-$CODE/export"); done
      for CODE in $CODES; do READY+=(--vectors "$CODE=$OUT/manuals/vectors/$CODE.vec"); done
      TRAINED=(--sets en "${PARAPHRASES[@]}")
      [[ $PART == paraphrases ]] || TRAINED=(--sets joint --folds '0 1 2' --epochs-for joint:4)
      similarity "$PART" "${READY[@]}" "${DICTIONARIES[@]}" "${TRAINED[@]}" "${GRADED[@]}" "${MODEL[@]}"
      ;;
    one-manual | encoders)
      # Its word vectors are put into one space by words that the languages write alike.
      ONE=(--base "${MANUALS[0]}" "${TEXTS[@]}" "${ALIGNED[@]}" --set negatives.low=0.7 --set negatives.each=3
        --rate halving --choose-on same --epochs 3 "${PARAPHRASES[@]}")
      if [[ $PART == one-manual ]]; then
        similarity one-manual "${ONE[@]}" --epochs-for es:20 "${GRADED[@]}" "${MODEL[@]}"
      else
        for ENCODER in conv bigru_last lstm_last; do
          similarity one-manual "${ONE[@]}" --sentence-encoder "$ENCODER" --sets fr "${MODEL[@]}"
        done
      fi
      ;;
  esac
done
[[ $DRY_RUN == yes || $PREPARE_ONLY == yes ]] || say "tables: $OUT/*/tables"
