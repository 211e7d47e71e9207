#!/usr/bin/env bash
# Sentence embeddings that carry syntax, from parallel text and treebanks to the paper's tables.
#
#   bash recipes/syntactic.sh --out DIR [--data DIR] …
#
# trains a part-of-speech tagger for each language, tags Tatoeba's translations, holds out groups of sentences
# with the same tags, and trains an encoder that predicts the tags of a translation, beside the same encoder
# trained to translate. Both and the baselines that need no download are scored on the held-out groups, on
# treebanks with gold tags and on parallel sentences; then the encoder is fine-tuned on a few pairs of languages
# that it has not seen. Tables: DIR/tables.md, and DIR/tables.gold.md of groups by gold tags. The packed encoder:
# DIR/model. A stage that is done is not done again.
#
#   --out DIR          everything is written here
#   --data DIR         a folder with mt/tatoeba/XXX-eng.tsv (English tab other language, XXX as Tatoeba's codes) and
#                      treebanks ud/UD_…/*.conllu; without it, Tatoeba's export and the treebanks are downloaded
#   --preset P         paper, or best: the settings that were best here, with own tags, piece vectors and a contrastive loss
#                      by tags; the encoder then trains in 28 minutes of a core. Every option goes before the preset
#                      (default: paper)
#   --languages 'L …'  languages to train on (default: 'en de es nl ko zh')
#   --unseen 'L …'     languages to evaluate without training on them, then to fine-tune on (default: 'fr id')
#   --few 'N …'        numbers of pairs to fine-tune on (default: '2000 10000')
#   --adapt 'L …'      fine-tune on the own tags of each of these languages, for an encoder that is better in it and worse
#                      in others; with --own-tags
#   --adapt-updates N  updates of such a fine-tuning (default: 2000)
#   --more DIR         more pairs to train on, DIR/en-L.tsv of any language L, such as fairseq-xl corpus paragraphs writes;
#                      the held-out groups stay those of Tatoeba
#   --subtitles P      OpenSubtitles pairs beside Tatoeba's, as 'en-fr=PREFIX …' of PREFIX.en and PREFIX.fr, of each the
#                      paper's first million lines; or download: those of OPUS for all languages, some gigabytes
#   --own-tags         also train on sentences with their own tags, those of the taggers' treebanks among them: a
#                      departure from the paper
#   --own-share S      with --own-tags: draw a share of S of all sentences with their own tags, such as 0.8 (default: as
#                      many as there are, by --temperature; best: 0.8)
#   --piece-vectors    the encoder's pieces begin from fastText vectors of the training text, of 100 numbers (best: yes)
#   --no-piece-vectors they are drawn, also with best
#   --dev SHARE        hold this share of the groups back for choosing settings, in OUT/eval/dev (default: 0)
#   --vocabulary N     pieces of the joint vocabulary (default: 40000)
#   --temperature T    pairs are drawn by their size to the power of 1/T (default: 1, as they come; best: 100)
#   --updates N        updates of the encoder and of the baseline that translates (default: 300000 of 32 sentences; best:
#                      7000 of 64)
#   --few-updates N    updates of a fine-tuning (default: 3000; best: 1000)
#   --vector-epochs N  epochs of all fastText vectors (default: 5)
#   --tagger-epochs N  most epochs of a tagger (default: 8)
#   --no-translating   leave out the encoder that is trained to translate, which takes four times as long
#   --beside 'L=E …'   more encoders to score, as fairseq-xl embed evaluate names them, such as
#                      'mBERT=transformers:bert-base-multilingual-cased' (extra pretrained) or 'LASER=npy:DIR/{name}.npy'
#   --licence L        the packed encoder, DIR/model, gets a model card with its scores and this licence, such as
#                      cc-by-4.0
#   --seed N           of everything that is drawn (default: 1)
#   --more-seeds 'N …' train the encoder with these seeds, too, on the same data and groups, and fine-tune each: the
#                      tables then have mean ± standard deviation
#   --threads N        processes that tag (default: all)
#   --prepare-only     stop before training
#   --dry-run          print the commands and run none
#   -- OPTION…         further options of fairseq-train, such as --fp16
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
. "$(dirname "${BASH_SOURCE[0]}")/lib/syntactic/check.sh"
. "$(dirname "${BASH_SOURCE[0]}")/lib/syntactic/prepare.sh"
. "$(dirname "${BASH_SOURCE[0]}")/lib/syntactic/model.sh"

OUT='' DATA='' LANGUAGES='en de es nl ko zh' UNSEEN='fr id' FEW='2000 10000' VOCABULARY=40000 TEMPERATURE=''
PRESET=paper UPDATES='' FEW_UPDATES='' VECTOR_EPOCHS=5 TAGGER_EPOCHS=8 SEED=1 MORE_SEEDS='' PREPARE_ONLY=no MORE=''
SUBTITLES='' OWN_TAGS=no OWN_SHARE='' DEV=0 TRANSLATING=yes BESIDE='' LICENCE='' TUNING=()
PIECE_VECTORS='' ADAPT='' ADAPT_UPDATES=2000
THREADS=$(nproc 2>/dev/null || echo 2)

recipe_option() {
  TAKEN=2
  case $1 in
    --dry-run) DRY_RUN=yes TAKEN=1 ;;
    --prepare-only) PREPARE_ONLY=yes TAKEN=1 ;;
    --own-tags) OWN_TAGS=yes TAKEN=1 ;;
    --piece-vectors) PIECE_VECTORS=yes TAKEN=1 ;;
    --no-piece-vectors) PIECE_VECTORS=no TAKEN=1 ;;
    --no-translating) TRANSLATING=no TAKEN=1 ;;
    --out) OUT=$(absolute "$2") ;;
    --data) DATA=$(absolute "$2") ;;
    --preset) PRESET=$2 ;;
    --languages) LANGUAGES=$2 ;;
    --unseen) UNSEEN=$2 ;;
    --few) FEW=$2 ;;
    --adapt) ADAPT=$2 ;;
    --adapt-updates) ADAPT_UPDATES=$2 ;;
    --more) MORE=$(absolute "$2") ;;
    --subtitles) SUBTITLES=$2 ;;
    --own-share) OWN_SHARE=$2 ;;
    --dev) DEV=$2 ;;
    --vocabulary) VOCABULARY=$2 ;;
    --temperature) TEMPERATURE=$2 ;;
    --updates) UPDATES=$2 ;;
    --few-updates) FEW_UPDATES=$2 ;;
    --vector-epochs) VECTOR_EPOCHS=$2 ;;
    --tagger-epochs) TAGGER_EPOCHS=$2 ;;
    --beside) BESIDE=$2 ;;
    --licence) LICENCE=$2 ;;
    --seed) SEED=$2 ;;
    --more-seeds) MORE_SEEDS=$2 ;;
    --threads) THREADS=$2 ;;
    *) TAKEN=0 ;;
  esac
}
read_options "$0" "$@"

case $PRESET in
  paper) : "${TEMPERATURE:=1}" "${UPDATES:=300000}" "${FEW_UPDATES:=3000}" ;;
  best)
    OWN_TAGS=yes
    : "${PIECE_VECTORS:=yes}" "${OWN_SHARE:=0.8}" "${TEMPERATURE:=100}" "${UPDATES:=7000}" "${FEW_UPDATES:=1000}"
    TUNING=("${BEST[@]}" --total-num-update "$UPDATES" "${TUNING[@]}")
    ;;
  *) fail "--preset is '$PRESET': choose paper or best" ;;
esac
: "${PIECE_VECTORS:=no}"

# Beside en the target of fine-tuning: Spanish, as in the paper, where it was trained on.
SECOND=''
for L in es $LANGUAGES; do
  if [[ -z $SECOND && $L != en && " $LANGUAGES " == *" $L "* ]]; then SECOND=$L; fi
done

check_settings
begin_in "$OUT"
activate
STAMPS=$OUT/stamps
inputs

# Text is read, and a tagger of each language, trained on its treebanks and on vectors of the text, tags it.
tagging_stages() {
  local earlier tagged='' subtitles=''
  if [[ -z $DATA ]]; then stage download '' download; fi
  if [[ $SUBTITLES == download ]]; then
    stage subtitles '' download_subtitles "$LANGUAGES" "$UNSEEN"
    subtitles=subtitles
  fi
  stage read "$subtitles" read_text "$LANGUAGES" "$UNSEEN" "$(fingerprint_pairs)" "$(fingerprint_subtitles)"
  for L in $LANGUAGES $UNSEEN $GOLD_ONLY; do
    stage "vectors.$L" read train_vectors "$VECTOR_EPOCHS" "$SEED" "$(fingerprint_treebanks "$L")"
  done
  for L in $LANGUAGES $UNSEEN; do
    earlier="vectors.$L"
    if [[ $L == zh ]]; then
      stage simplified read simplify "$(fingerprint_treebanks zh)"
      earlier+=' simplified'
    fi
    stage "tagger.$L" "$earlier" train_tagger "$TAGGER_EPOCHS" "$SEED" "$(fingerprint_treebanks "$L")"
    tagged+=" tagger.$L"
  done
  stage tag "read$tagged" tag
}

# Groups are held out of the tagged text and of treebanks, and the rest becomes data directories.
data_stages() {
  local held='sets'
  stage sets tag build_sets "$SEED" "$DEV" "$(for L in $GOLD_ONLY; do fingerprint_treebanks "$L"; done)"
  for L in $(gold_languages); do
    stage "gold.$L" '' build_gold "$(fingerprint_treebanks "$L")"
    held+=" gold.$L"
  done
  stage prepare "$held" prepare_training "$VOCABULARY" "$SEED" "$OWN_TAGS" "$(fingerprint_more)"
  stage prepare.few prepare prepare_few "$UNSEEN"
  [[ $DRY_RUN == yes ]] || fairseq-xl embed statistics "$OUT/preprocessed"
}

# The vectors of a baseline, and those that the encoder's pieces begin from.
vector_stages() { # -> words prepared
  words='' prepared=prepare
  for L in $LANGUAGES $UNSEEN $GOLD_ONLY; do
    stage "words.$L" prepare train_words "$VECTOR_EPOCHS" "$SEED" "$(fingerprint_treebanks "$L")"
    words+=" words.$L"
  done
  if [[ $PIECE_VECTORS == yes ]]; then
    stage pieces prepare train_piece_vectors "$VECTOR_EPOCHS" "$SEED"
    prepared+=' pieces'
  fi
}

# The first seed's encoder alone stands beside others.
encoder_stages() { # -> evaluated
  local beside='' others=''
  stage "train.tags$OF" "$prepared" train_tags "$UPDATES" "$TEMPERATURE" "$OWN_SHARE" "$TRAINING_SEED" "${TUNING[*]:-}"
  if [[ -z $OF ]]; then
    # shellcheck disable=SC2086
    others="$BESIDE $(fingerprint_encoders $BESIDE)"
    stage untrained train.tags untrained "$SEED"
    beside="untrained$words"
    if [[ $TRANSLATING == yes ]]; then
      stage train.pieces "$prepared" train_pieces "$UPDATES" "$TEMPERATURE" "$OWN_SHARE" "$SEED" "${TUNING[*]:-}"
      beside+=' train.pieces'
    fi
  fi
  stage "evaluate$OF" "train.tags$OF $beside" evaluate_all "$others"
  stage "evaluate.gold$OF" "train.tags$OF $beside" evaluate_gold "$others"
  if [[ $DEV != 0 ]]; then stage "evaluate.dev$OF" "train.tags$OF $beside" evaluate_dev "$others"; fi
  evaluated+=" evaluate$OF evaluate.gold$OF"
}

# The encoder is fine-tuned on a language's own tags, and on a few pairs of each language that it has not seen.
tuning_stages() { # -> evaluated
  local tuned
  for L in $ADAPT; do
    stage "adapt.$L$OF" "train.tags$OF" adapt "$ADAPT_UPDATES" "$TRAINING_SEED" "${TUNING[*]:-}"
    stage "evaluate.adapted.$L$OF" "adapt.$L$OF" evaluate_adapted
    evaluated+=" evaluate.adapted.$L$OF"
  done
  for L in $UNSEEN; do
    tuned=''
    for PAIRS in $(few_pairs "$L"); do
      for NUMBER in $FEW; do
        stage "few.$L.$PAIRS.$NUMBER$OF" "train.tags$OF prepare.few" \
          train_few "$FEW_UPDATES" "$TRAINING_SEED" "${TUNING[*]:-}"
        tuned+=" few.$L.$PAIRS.$NUMBER$OF"
      done
    done
    stage "evaluate.$L$OF" "train.tags$OF$tuned" evaluate_few
    evaluated+=" evaluate.$L$OF"
  done
}

all_stages() {
  local words prepared evaluated=''
  tagging_stages
  data_stages
  if [[ $PREPARE_ONLY == yes ]]; then return; fi
  vector_stages
  for TRAINING_SEED in $SEED $MORE_SEEDS; do
    OF=''
    if [[ $TRAINING_SEED != "$SEED" ]]; then OF=.seed$TRAINING_SEED; fi
    encoder_stages
    tuning_stages
  done
  stage tables "${evaluated# }" tables "$MORE_SEEDS" "$ADAPT"
  stage map train.tags draw_map
  stage pack 'train.tags evaluate' pack_encoder "$LICENCE"
  [[ $DRY_RUN == yes ]] || cat "$OUT/tables.md"
}

# Another process in this folder waits, and then finds all of it done.
locked "$OUT/lock" all_stages
