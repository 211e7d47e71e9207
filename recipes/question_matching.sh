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
#                      esim does), infersent, or a baseline: character_ngram tfidf bm25 vectors shallow constant st
#                      (default: esim)
#   --seed N           of the training; fold N-1 of --folds is held out, counted round (default: 1)
#   --runs N           trainings with seeds from --seed on, N at most --folds (default: 1). Several, of no baseline, are
#                      averaged in OUT/runs/NAME.meanN: record.json, and calibrated.json, where each is calibrated on
#                      its fold
#   --folds N          of the training pairs, by communities of questions (default: 5)
#   --epochs N         default: 8
#   --choose MEASURE   take the epoch that is best on the fold by log_loss (default) or average_precision, or the last
#                      one, which no measure chooses
#   --prior WHICH      share of matching pairs that calibrated.json assumes: labelled, that of the labelled English pairs
#                      (default); fold, that of the fold, which is larger, since pairs across folds are left out;
#                      estimated, from the classifier's own answers to the Spanish pairs, without their labels (Saerens
#                      et al. 2002); or a number between 0 and 1
#   --embeddings WHICH   own: trained on the questions and --text (default); official: fastText's Spanish Wikipedia
#                      vectors, downloaded (the competition's); or a file: .vec or .bin
#   --text FILE        more Spanish text for own vectors, a sentence a line; repeatable
#   --languages WHICH  of the training pairs: es, the Spanish translations alone (default), or both: every labelled pair
#                      is read in English, too. Own vectors of both languages are trained on questions and their
#                      translations, whose words are mixed. A pair is held out in both languages at once. Folds and
#                      the Spanish pairs are judged in Spanish alone
#   --english-text FILE  more English text for the vectors of --languages both, a sentence a line; repeatable
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
. "$(dirname "${BASH_SOURCE[0]}")/lib/question_matching/check.sh"
. "$(dirname "${BASH_SOURCE[0]}")/lib/question_matching/prepare.sh"

CLASSIFIERS="siamese_lstm siamese_conv siamese_conv_lstm siamese_conv_lstm_bilstm esim decomposable_attention
  decomposable_attention_enhanced infersent"
BASELINES="character_ngram tfidf bm25 vectors shallow constant st"
WITHOUT_VECTORS="character_ngram tfidf bm25 shallow constant"
WIKIPEDIA=https://dl.fbaipublicfiles.com/fasttext/vectors-wiki/wiki.es.vec
# Chosen on a held-out fold of the training pairs.
TRAIN=(--task pair_classification --criterion pair_classification --optimizer adam --lr 0.001 --clip-norm 5
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

SYSTEM=esim SEED=1 RUNS=1 FOLDS=5 EPOCHS=8 CHOOSE=log_loss PRIOR=labelled VECTORS=own UNKNOWN='' TRANSFER=yes CHAINS=no TRANSLATE=no
LEAKS=sentences LANGUAGES=es OUT='' DATA='' NAME='' MODEL=''
TEXTS=() ENGLISH_TEXTS=() TRANSLATED=() TUNING=() PREPARE_ONLY=no

recipe_option() {
  TAKEN=2
  case $1 in
    --dry-run) DRY_RUN=yes TAKEN=1 ;;
    --prepare-only) PREPARE_ONLY=yes TAKEN=1 ;;
    --data) DATA=$(absolute "$2") ;;
    --out) OUT=$(absolute "$2") ;;
    --system | --loss) SYSTEM=$2 ;; # `fairseq-xl experiment` calls what it compares a loss
    --seed) SEED=$2 ;;
    --runs) RUNS=$2 ;;
    --folds) FOLDS=$2 ;;
    --epochs) EPOCHS=$2 ;;
    --choose) CHOOSE=$2 ;;
    --prior) PRIOR=$2 ;;
    --embeddings) VECTORS=$2 ;;
    --text) TEXTS+=("$(absolute "$2")") ;;
    --languages) LANGUAGES=$2 ;;
    --english-text) ENGLISH_TEXTS+=("$(absolute "$2")") ;;
    --unknown) UNKNOWN=$2 ;;
    --transfer) TRANSFER=$2 ;;
    --chains) CHAINS=$2 ;;
    --translate) TRANSLATE=$2 ;;
    --translated) TRANSLATED+=("$(absolute "$2")") ;;
    --leaks) LEAKS=$2 ;;
    --model) MODEL=$2 ;;
    --name) NAME=$2 ;;
    *) TAKEN=0 ;;
  esac
}
read_options "$0" "$@"

train_classifier() {
  claim_checkpoints "$RUN/checkpoints"
  logged_training "$RUN/train.log" "$RUN/checkpoints" fairseq-train "$PREPARED" --user-dir "$PLUGIN" "${TRAIN[@]}" --arch "${SYSTEM%_enhanced}" --fold "$FOLD" \
    --seed "$SEED" --max-epoch "$EPOCHS" --save-dir "$RUN/checkpoints" "${TUNING[@]}"
  makes "$RUN/checkpoints/$CHECKPOINT"
}

classifier_records() {
  local checkpoint=$RUN/checkpoints/$CHECKPOINT prior=()
  case $PRIOR in
    fold) ;;
    estimated) prior=(--prior-from "$RUN/record.json") ;;
    labelled) prior=(--prior "$(share_of_matches "$DATA/cikm_english_train.txt")") ;;
    *) prior=(--prior "$PRIOR") ;;
  esac
  run fairseq-xl match predict "$checkpoint" --split fold --name "$LABEL" --output "$RUN/fold.json"
  run fairseq-xl match predict "$checkpoint" --split test --name "$LABEL" --output "$RUN/record.json"
  run fairseq-xl match calibrate "$RUN/fold.json" --bias "${prior[@]}" --output "$RUN/calibration.json"
  run fairseq-xl match predict "$checkpoint" --split test --name "$LABEL, calibrated" --calibration "$RUN/calibration.json" \
    --output "$RUN/calibrated.json"
  makes "$RUN"/{fold,record,calibration,calibrated}.json
}

share_of_matches() { # FILE
  LC_ALL=C awk -F '\t' '{ matches += $5 } END { printf "%.4f", matches / NR }' "$1"
}

baseline_records() {
  local options=(--name "$LABEL" --seed "$SEED")
  [[ $SYSTEM != vectors ]] || options+=(--vectors "$VECTORS_FILE")
  [[ $SYSTEM != st ]] || options+=(--model "$MODEL")
  run fairseq-xl match baseline "$SYSTEM" "$PREPARED" --fold "$FOLD" --output "$RUN/fold.json" "${options[@]}"
  run fairseq-xl match baseline "$SYSTEM" "$PREPARED" --split test --output "$RUN/record.json" "${options[@]}"
  makes "$RUN"/{fold,record}.json
}

# Of a classifier's runs. Each is calibrated on its own fold: their mean is less sure than any of them.
average_runs() {
  run fairseq-xl match ensemble "${AVERAGED[@]/%//record.json}" --name "$LABEL" --output "$RUN/record.json"
  run fairseq-xl match ensemble "${AVERAGED[@]/%//calibrated.json}" --name "$LABEL, calibrated" --output "$RUN/calibrated.json"
  makes "$RUN"/{record,calibrated}.json
}

check_settings
read -ra OPTIONS <<<"${OWN[$SYSTEM]:-}"
CHECKPOINT=checkpoint_best.pt
[[ $CHOOSE == last ]] || TRAIN+=(--best-checkpoint-metric "$CHOOSE")
TRAIN+=("${OPTIONS[@]}")
case $CHOOSE in
  average_precision) TRAIN+=(--maximize-best-checkpoint-metric) ;;
  last) CHECKPOINT=checkpoint_last.pt ;;
esac
begin_in "$OUT"
activate
case $TRANSFER.$TRANSLATE in
  no.*) HELP=plain ;;
  yes.no) HELP=transferred ;;
  yes.yes) HELP=translated ;;
esac
KEY=$VECTORS_KEY.$UNKNOWN.$HELP.$LEAKS.$FOLDS
PREPARED_KEY=$KEY
[[ $LANGUAGES == es ]] || PREPARED_KEY+=.both
[[ $CHAINS == no ]] || PREPARED_KEY+=.chains
LABEL=$SYSTEM
# What a run's records are of, beside its data.
OF=''
if one_of "$SYSTEM" "$BASELINES"; then
  [[ $SYSTEM != st ]] || OF=.$(tr -c 'A-Za-z0-9._\n-' _ <<<"$MODEL")
else
  [[ $CHOOSE == log_loss ]] || OF+=.$CHOOSE
  [[ $PRIOR == labelled ]] || OF+=.prior-$PRIOR
fi
PREPARED=$OUT/prepared/$PREPARED_KEY STAMPS=$OUT/stamps
locked "$OUT/lock" prepare_stages
[[ $PREPARE_ONLY == no ]] || exit 0
ALL=${NAME:-$SYSTEM.$PREPARED_KEY$OF} FIRST_SEED=$SEED RECORDED=() AVERAGED=()
for ((SEED = FIRST_SEED; SEED < FIRST_SEED + RUNS; SEED++)); do
  FOLD=$(((SEED - 1) % FOLDS))
  [[ -n $NAME && $RUNS == 1 ]] || NAME=$ALL.seed$SEED
  RUN=$OUT/runs/$NAME
  if one_of "$SYSTEM" "$BASELINES"; then
    stage "$NAME/record" "prepared/$PREPARED_KEY" baseline_records "$SYSTEM" "$SEED" "$MODEL"
  else
    stage "$NAME/train" "prepared/$PREPARED_KEY" train_classifier "$SYSTEM" "$SEED" "$EPOCHS" "${TRAIN[@]}" "${TUNING[@]}"
    stage "$NAME/record" "$NAME/train" classifier_records "$PRIOR"
  fi
  RECORDED+=("$NAME/record") AVERAGED+=("$RUN")
done
if ((RUNS > 1)); then
  RUN=$OUT/runs/$ALL.mean$RUNS
  stage "$ALL.mean$RUNS" "${RECORDED[*]}" average_runs "$FIRST_SEED"
fi
[[ $DRY_RUN == yes ]] || say "$RUN/record.json"
