#!/usr/bin/env bash
# Do two Spanish questions mean the same, learnt from English labels? (CIKM AnalytiCup 2018, Hadgu 2018)
#
#   bash recipes/question_matching.sh --data DIR --out DIR [--system esim] [--seed 1] …
#
# Trains word vectors, makes pairs by label transfer, trains a pair classifier on the Spanish translations of the English pairs with one fold of
# them held out, calibrates it on that fold, and records what it says of the fold and of the Spanish pairs, which
# nothing has been chosen on, in OUT/runs/NAME/{fold,record,calibrated}.json. Compare records with
# `fairseq-xl match report OUT/runs/*/record.json --paper -o OUT/report`, combine them with `fairseq-xl match ensemble`.
# Finished stages are skipped: start it again after an interruption, or for another system or seed in the same --out.
#
#   --data DIR         folder with cikm_english_train.txt and cikm_spanish_train.txt, as the competition gave them out,
#                      and, where they are there, cikm_unlabel_spanish_train.txt (for label transfer) and cikm_test_a.txt;
#                      they come from the organisers alone, so that nothing is downloaded
#   --out DIR          everything is written here
#   --system SYSTEM    siamese_lstm, siamese_conv, siamese_conv_lstm, siamese_conv_lstm_bilstm, esim,
#                      decomposable_attention (as published), decomposable_attention_enhanced (compares and pools as
#                      esim does), infersent, or a baseline: character_ngram tfidf bm25 vectors constant st
#                      (default: esim)
#   --seed N           of the training; fold N-1 of --folds is held out, counted round (default: 1)
#   --runs N           trainings with seeds from --seed on, N at most --folds (default: 1). Several are averaged in
#                      OUT/runs/NAME.meanN: record.json, and calibrated.json, whose calibration is fitted on their folds
#   --folds N          of the training pairs, by communities of questions (default: 5)
#   --epochs N         default: 8
#   --choose MEASURE   keep the epoch that is best on the fold by log_loss (default) or average_precision
#   --embeddings WHICH   own: trained on the questions and --text (default); official: fastText's Spanish Wikipedia
#                      vectors, downloaded (the competition's); or a file: .vec or .bin
#   --text FILE        more Spanish text for own vectors, a sentence a line; repeatable
#   --unknown HOW      words without a vector: subwords (vectors of their subwords; default for own and .bin), repair
#                      (the paper's spelling rules first), or none
#   --transfer no|yes  add pairs made by label transfer through the questions' translations (default: yes)
#   --chains no|yes    train on pairs that match through a chain of two, too: A as B, B as C (default: no)
#   --translate no|yes train a translation model with continuous outputs on the translated questions alone, translate
#                      those of cikm_test_a.txt with it, and transfer labels to them, too (default: no)
#   --translated FILE  Spanish questions and their English translations, two columns, for label transfer as well; repeatable
#   --leaks WHAT       training pairs to leave out: those that share sentences with the Spanish pairs (default), pairs
#                      (those that are one of them), or nothing, the paper's
#   --model NAME       of st
#   --name NAME        folder of the run
#   --prepare-only     stop before training
#   --dry-run          print the commands and run none
#   -- OPTION…         further options of fairseq-train
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

CLASSIFIERS="siamese_lstm siamese_conv siamese_conv_lstm siamese_conv_lstm_bilstm esim decomposable_attention
  decomposable_attention_enhanced infersent"
BASELINES="character_ngram tfidf bm25 vectors constant st"
WIKIPEDIA=https://dl.fbaipublicfiles.com/fasttext/vectors-wiki/wiki.es.vec
# Chosen on a held-out fold of the training pairs.
TRAIN=(--task siamese_matching --criterion pair_classification --optimizer adam --lr 0.001 --clip-norm 5
  --batch-size 128 --exchange --no-epoch-checkpoints --num-workers 0 --required-batch-size-multiple 1
  --log-format json --log-interval 50 --dropout 0.3)
# By architecture, chosen there, too, but for the first: of the size of the others.
declare -A OWN=(
  [infersent]="--hidden-dim 256 --decide-dim 128"
  [decomposable_attention_enhanced]="--enhanced"
  [siamese_conv]="--label-smoothing 0.1"
  [siamese_conv_lstm]="--label-smoothing 0.1"
  [siamese_conv_lstm_bilstm]="--label-smoothing 0.1"
)

SYSTEM=esim SEED=1 RUNS=1 FOLDS=5 EPOCHS=8 CHOOSE=log_loss VECTORS=own UNKNOWN='' TRANSFER=yes CHAINS=no TRANSLATE=no
LEAKS=sentences OUT='' DATA='' NAME='' MODEL=''
TEXTS=() TRANSLATED=() TUNING=() PREPARE_ONLY=no

common_option() { # OPTION [VALUE]; sets TAKEN to the number of words used, 0 for another option
  TAKEN=1
  case $1 in
    --dry-run) DRY_RUN=yes; return ;;
    --prepare-only) PREPARE_ONLY=yes; return ;;
    --data | --out | --system | --loss | --seed | --runs | --folds | --epochs | --choose | --embeddings | --text | \
      --unknown | --transfer | --chains | --translate | --translated | --leaks | --model | --name) ;;
    *) TAKEN=0; return ;;
  esac
  TAKEN=2
  need_value "$@"
  case $1 in
    --data) DATA=$(absolute "$2") ;;
    --out) OUT=$(absolute "$2") ;;
    --system | --loss) SYSTEM=$2 ;; # `fairseq-xl experiment` calls what it compares a loss
    --seed) SEED=$2 ;;
    --runs) RUNS=$2 ;;
    --folds) FOLDS=$2 ;;
    --epochs) EPOCHS=$2 ;;
    --choose) CHOOSE=$2 ;;
    --embeddings) VECTORS=$2 ;;
    --text) TEXTS+=("$(absolute "$2")") ;;
    --unknown) UNKNOWN=$2 ;;
    --transfer) TRANSFER=$2 ;;
    --chains) CHAINS=$2 ;;
    --translate) TRANSLATE=$2 ;;
    --translated) TRANSLATED+=("$(absolute "$2")") ;;
    --leaks) LEAKS=$2 ;;
    --model) MODEL=$2 ;;
    --name) NAME=$2 ;;
  esac
}
recipe_option() { :; }
read_options "$0" "$@"

check_settings() {
  local option file
  one_of "$SYSTEM" "$CLASSIFIERS $BASELINES" || fail "--system is '$SYSTEM': choose one of $CLASSIFIERS $BASELINES"
  need_seed --seed "$SEED"
  need_number --folds "$FOLDS"
  need_count --epochs "$EPOCHS"
  ((SEED > 0)) || fail "--seed counts from 1"
  ((FOLDS > 1)) || fail "--folds is $FOLDS: at least 2, one of which is held out"
  need_count --runs "$RUNS"
  ((RUNS <= FOLDS)) || fail "--runs is $RUNS: at most one for each of the $FOLDS folds of --folds"
  [[ $CHOOSE =~ ^(log_loss|average_precision)$ ]] || fail "--choose is '$CHOOSE': choose log_loss or average_precision"
  [[ -n $OUT ]] || fail "--out is missing: name the folder for data, checkpoints and records"
  need_folder_name --out "$OUT"
  [[ -z $NAME ]] || need_name --name "$NAME"
  [[ -n $DATA ]] || fail "--data is missing: name the folder with the competition's files (nothing is downloaded)"
  need_folder_name --data "$DATA"
  [[ $TRANSFER =~ ^(yes|no)$ ]] || fail "--transfer is '$TRANSFER': choose yes or no"
  [[ $CHAINS =~ ^(yes|no)$ ]] || fail "--chains is '$CHAINS': choose yes or no"
  [[ $TRANSLATE =~ ^(yes|no)$ ]] || fail "--translate is '$TRANSLATE': choose yes or no"
  [[ $TRANSLATE == no || $TRANSFER == yes ]] || fail "--translate yes serves label transfer alone: leave out --transfer no"
  [[ $TRANSLATE == no ]] || need_file "$DATA/cikm_test_a.txt" "file to translate,"
  [[ $LEAKS =~ ^(sentences|pairs|nothing)$ ]] || fail "--leaks is '$LEAKS': choose sentences, pairs or nothing"
  for file in english spanish; do need_file "$DATA/cikm_${file}_train.txt" "file of question pairs,"; done
  for file in "${TEXTS[@]}" "${TRANSLATED[@]}"; do need_file "$file" "text"; done
  case $VECTORS in
    own) VECTORS_KEY=own UNKNOWN=${UNKNOWN:-subwords} ;;
    official) VECTORS_KEY=official UNKNOWN=${UNKNOWN:-repair} ;;
    *)
      VECTORS=$(absolute "$VECTORS")
      need_file "$VECTORS" "file of word vectors,"
      VECTORS_KEY=$(basename "$VECTORS")
      need_name --embeddings "$VECTORS_KEY"
      if [[ $VECTORS == *.bin ]]; then UNKNOWN=${UNKNOWN:-subwords}; else UNKNOWN=${UNKNOWN:-repair}; fi
      ;;
  esac
  [[ $UNKNOWN =~ ^(subwords|repair|none)$ ]] || fail "--unknown is '$UNKNOWN': choose subwords, repair or none"
  [[ $UNKNOWN != subwords || $VECTORS == own || $VECTORS == *.bin ]] ||
    fail "--unknown subwords needs vectors with subwords: own ones, or a .bin file"
  [[ $SYSTEM != st || -n $MODEL ]] || fail "--system st needs --model: the name or folder of a sentence-transformers model"
}

# Everything in Spanish that the competition gave out, and what the user adds.
write_words() {
  local inputs=("$DATA/cikm_english_train.txt,2,4" "$DATA/cikm_spanish_train.txt,1,3")
  [[ ! -f $DATA/cikm_unlabel_spanish_train.txt ]] || inputs+=("$DATA/cikm_unlabel_spanish_train.txt,1")
  [[ ! -f $DATA/cikm_test_a.txt ]] || inputs+=("$DATA/cikm_test_a.txt,1,2")
  run fairseq-xl match words "${inputs[@]}" "${TEXTS[@]}" --output "$OUT/vectors/text"
}

# Few words: fewer buckets for subwords than fastText's two million lose nothing.
train_vectors() {
  run fairseq-xl vectors train "$OUT/vectors/text" --output "$OUT/vectors/own" --dim 300 --epoch 10 --min-count 2 \
    --buckets 200000 --threads 1 --seed 1
}

fetch_vectors() {
  run fairseq-xl data fetch "$WIKIPEDIA" --output "$OUT/vectors/official.vec" \
    --otherwise "download it elsewhere and give its name with --embeddings"
}

# The sides' columns; the translations, which hold names as they are, tell what is no mistake.
repair_files() {
  local files=("$DATA/cikm_english_train.txt,columns=2+4,translations=1+3"
    "$DATA/cikm_spanish_train.txt,columns=1+3,translations=2+4")
  [[ ! -f $DATA/cikm_unlabel_spanish_train.txt ]] ||
    files+=("$DATA/cikm_unlabel_spanish_train.txt,columns=1,translations=2")
  [[ ! -f $DATA/cikm_test_a.txt ]] || files+=("$DATA/cikm_test_a.txt,columns=1+2")
  run fairseq-xl match repair-words "${files[@]}" --vectors "$VECTORS_FILE" --language es --output "$TEXT" \
    --changes "$TEXT/changes.tsv"
}

# English, tab, Spanish, as Tatoeba's lists are.
write_parallel() {
  local columns='{ print $en "\t" $es; print $(en + 2) "\t" $(es + 2) }'
  if [[ $DRY_RUN == yes ]]; then return; fi
  begin_in "$OUT/translation"
  {
    awk -F '\t' -v en=1 -v es=2 "$columns" "$DATA/cikm_english_train.txt"
    awk -F '\t' -v en=2 -v es=1 "$columns" "$DATA/cikm_spanish_train.txt"
  } | LC_ALL=C sort -u >"$OUT/translation/spa-eng.tsv"
  tr '\t' '\n' <"$DATA/cikm_test_a.txt" | LC_ALL=C sort -u >"$OUT/translation/questions.es"
}

train_translation() {
  run bash "$ROOT/recipes/tatoeba.sh" --data "$OUT/translation/spa-eng.tsv" --src es --tgt en --held-out 300 \
    --epochs 30 --out "$OUT/translation" --name questions --diagnose no
}

translate_questions() {
  run fairseq-xl translate text "$OUT/translation/runs/questions/model" --input "$OUT/translation/questions.es" \
    --output "$OUT/translation/questions.en"
  if [[ $DRY_RUN == yes ]]; then return; fi
  # An unknown word may be what the question is about: such translations would match each other.
  paste "$OUT/translation/questions.es" "$OUT/translation/questions.en" |
    awk -F '\t' 'index($2, "<unk>") == 0' >"$OUT/translation/questions.tsv.tmp"
  mv "$OUT/translation/questions.tsv.tmp" "$OUT/translation/questions.tsv"
}

transfer_labels() {
  local sentences=("${TRANSLATED[@]}")
  [[ $TRANSLATE == no ]] || sentences+=("$OUT/translation/questions.tsv")
  [[ ! -f $TEXT/cikm_unlabel_spanish_train.txt ]] || sentences+=("$TEXT/cikm_unlabel_spanish_train.txt")
  [[ ${#sentences[@]} == 0 ]] || sentences=(--sentences "${sentences[@]}")
  run fairseq-xl match transfer-labels --labelled "$TEXT/cikm_english_train.txt,left=1,right=3,label=5" \
    --from-pairs "$TEXT/cikm_english_train.txt,left=2,right=4,label=none,left_translation=1,right_translation=3" \
    "${sentences[@]}" --exclude "$TEXT/cikm_spanish_train.txt,left=1,right=3,label=none" --exclude-sentences \
    --output "$OUT/transferred/$KEY.tsv"
}

prepare_data() {
  local sources=("$TEXT/cikm_english_train.txt,left=2,right=4,label=5"
    "$TEXT/cikm_spanish_train.txt,left=1,right=3,label=5,split=test") also=()
  [[ $TRANSFER == no ]] || sources+=("$OUT/transferred/$KEY.tsv,left=left,right=right,label=label")
  [[ ! -f $TEXT/cikm_test_a.txt ]] || also=(--also "$TEXT/cikm_test_a.txt,label=none")
  [[ $CHAINS == no ]] || also+=(--chains)
  run fairseq-xl match prepare "$PREPARED" "${sources[@]}" "${also[@]}" --vectors "$VECTORS_FILE" --folds "$FOLDS" \
    --leaks "$LEAKS"
  makes "$PREPARED"
}

show_statistics() {
  logged "$PREPARED.statistics.md" fairseq-xl match statistics "$TEXT/cikm_spanish_train.txt,left=1,right=3,label=5" \
    "$TEXT/cikm_english_train.txt,left=2,right=4,label=5" --vectors "$VECTORS_FILE"
  [[ $DRY_RUN == yes ]] || cat "$PREPARED.statistics.md" >&2
}

train_classifier() {
  claim_checkpoints "$RUN/checkpoints"
  logged "$RUN/train.log" fairseq-train "$PREPARED" --user-dir "$PLUGIN" "${TRAIN[@]}" --arch "${SYSTEM%_enhanced}" --fold "$FOLD" \
    --seed "$SEED" --max-epoch "$EPOCHS" --save-dir "$RUN/checkpoints" "${TUNING[@]}"
}

classifier_records() {
  local best=$RUN/checkpoints/checkpoint_best.pt
  run fairseq-xl match predict "$best" --split fold --name "$LABEL" --output "$RUN/fold.json"
  run fairseq-xl match predict "$best" --split test --name "$LABEL" --output "$RUN/record.json"
  run fairseq-xl match calibrate "$RUN/fold.json" --bias --output "$RUN/calibration.json"
  run fairseq-xl match predict "$best" --split test --name "$LABEL, calibrated" --calibration "$RUN/calibration.json" \
    --output "$RUN/calibrated.json"
}

baseline_records() {
  local options=(--name "$LABEL" --seed "$SEED")
  [[ $SYSTEM != vectors ]] || options+=(--vectors "$VECTORS_FILE")
  [[ $SYSTEM != st ]] || options+=(--model "$MODEL")
  run fairseq-xl match baseline "$SYSTEM" "$PREPARED" --fold "$FOLD" --output "$RUN/fold.json" "${options[@]}"
  run fairseq-xl match baseline "$SYSTEM" "$PREPARED" --split test --output "$RUN/record.json" "${options[@]}"
}

# Of a classifier's runs; the calibration sees the folds that were held out, and nothing that is reported.
average_runs() {
  run fairseq-xl match ensemble "${AVERAGED[@]/%//record.json}" --name "$LABEL" --output "$RUN/record.json"
  run fairseq-xl match ensemble "${AVERAGED[@]/%//record.json}" --stack-on "${AVERAGED[@]/%//fold.json}" --calibrate platt \
    --name "$LABEL, calibrated" --output "$RUN/calibrated.json"
}

prepare_stages() {
  local raw before given=$VECTORS
  raw=$(fingerprint "$DATA"/cikm_*.txt "${TEXTS[@]}")
  case $VECTORS in
    own)
      stage vectors/text '' write_words "$raw"
      stage vectors/own vectors/text train_vectors
      VECTORS_FILE=$OUT/vectors/own.$([[ $UNKNOWN == subwords ]] && echo bin || echo vec) before=vectors/own
      ;;
    official)
      stage vectors/official '' fetch_vectors
      VECTORS_FILE=$OUT/vectors/official.vec before=vectors/official
      ;;
    *) VECTORS_FILE=$VECTORS before='' given=$(fingerprint "$VECTORS") ;;
  esac
  TEXT=$DATA
  if [[ $UNKNOWN == repair ]]; then
    TEXT=$OUT/repaired/$VECTORS_KEY
    stage "repaired/$VECTORS_KEY" "$before" repair_files "$raw" "$given"
    before="repaired/$VECTORS_KEY"
  fi
  if [[ $TRANSLATE == yes ]]; then
    stage translation/text '' write_parallel "$raw"
    stage translation/model translation/text train_translation
    stage translation/questions translation/model translate_questions
    before+=' translation/questions'
  fi
  if [[ $TRANSFER == yes ]]; then
    stage "transferred/$KEY" "$before" transfer_labels "$raw" "$(fingerprint "${TRANSLATED[@]}")"
    before="transferred/$KEY"
  fi
  stage "prepared/$PREPARED_KEY" "$before" prepare_data "$raw" "$FOLDS" "$LEAKS" "$given"
  stage "statistics/$PREPARED_KEY" "prepared/$PREPARED_KEY" show_statistics
}

check_settings
read -ra OPTIONS <<<"${OWN[$SYSTEM]:-}"
TRAIN+=(--best-checkpoint-metric "$CHOOSE" "${OPTIONS[@]}")
[[ $CHOOSE == log_loss ]] || TRAIN+=(--maximize-best-checkpoint-metric)
begin_in "$OUT"
activate
case $TRANSFER.$TRANSLATE in
  no.*) HELP=plain ;;
  yes.no) HELP=transferred ;;
  yes.yes) HELP=translated ;;
esac
KEY=$VECTORS_KEY.$UNKNOWN.$HELP.$LEAKS.$FOLDS
PREPARED_KEY=$KEY
[[ $CHAINS == no ]] || PREPARED_KEY+=.chains
LABEL=$SYSTEM
PREPARED=$OUT/prepared/$PREPARED_KEY STAMPS=$OUT/stamps
locked "$OUT/lock" prepare_stages
[[ $PREPARE_ONLY == no ]] || exit 0
ALL=${NAME:-$SYSTEM.$PREPARED_KEY} FIRST_SEED=$SEED RECORDED=() AVERAGED=()
for ((SEED = FIRST_SEED; SEED < FIRST_SEED + RUNS; SEED++)); do
  FOLD=$(((SEED - 1) % FOLDS))
  [[ -n $NAME && $RUNS == 1 ]] || NAME=$ALL.seed$SEED
  RUN=$OUT/runs/$NAME
  if one_of "$SYSTEM" "$BASELINES"; then
    stage "$NAME/record" "prepared/$PREPARED_KEY" baseline_records "$SYSTEM" "$SEED" "$MODEL"
  else
    stage "$NAME/train" "prepared/$PREPARED_KEY" train_classifier "$SYSTEM" "$SEED" "$EPOCHS" "${TRAIN[@]}" "${TUNING[@]}"
    stage "$NAME/record" "$NAME/train" classifier_records
  fi
  RECORDED+=("$NAME/record") AVERAGED+=("$RUN")
done
if ((RUNS > 1)); then
  RUN=$OUT/runs/$ALL.mean$RUNS
  stage "$ALL.mean$RUNS" "${RECORDED[*]}" average_runs "$FIRST_SEED"
fi
[[ $DRY_RUN == yes ]] || say "$RUN/record.json"
