#!/usr/bin/env bash
# From a bilingual website to a model of semantic similarity, and the tables that show what it has learnt.
# ("Multilingual Corpus Creation for Multilingual Semantic Similarity Task", 2020)
#
#   bash recipes/semantic_similarity.sh --out DIR --languages 'en fr es' --base URL|FOLDER …
#
# For the first language with each of the others: crawls the site, extracts, translates and aligns lines, finds topics
# and negatives, exports labelled pairs in ten folds. Trains word vectors of every language and puts them into one space.
# Trains a model on nine folds and predicts the tenth, fold by fold, for every corpus and for all of them together, and
# lets every model judge every corpus's test split. A shallow baseline, which sees lengths and shared words alone, judges
# the same folds (DIR/tables/shallow.*.md). With --paraphrases, trains on these from scratch and from the model
# of all corpora. Sites of several domains may be corpora of their own (--partition). Tables: DIR/tables. Finished stages
# are skipped: start it again after an interruption.
#
#   --out DIR            everything is written here
#   --languages 'L L …'  codes as in <html lang>; pairs are of the first with each other one (default: 'en fr'). One code
#                        is enough with its --corpus
#   --base URL|FOLDER    where the crawl begins, or a folder of HTML files, whose pages may lie in folders named by their
#                        languages (FOLDER/en/a.html, FOLDER/fr/a.html); repeatable
#   --partition LANG.DOMAIN=URL|FOLDER   instead of --base: a website of one domain and language, such as
#                        fr.government=https://example.org/, for a corpus of its own with topics, negatives, folds and
#                        test split. Several of one name make one corpus. Every language but the first needs one;
#                        repeatable
#   --corpus LANG=FOLDER a corpus that is there: train.tsv and test.tsv (and validation.tsv) of `fairseq-xl corpus
#                        export`, instead of a website of that language. For the first language, pairs within it, as
#                        `fairseq-xl corpus paraphrases` writes them. It has as many folds as negatives.folds says
#                        (default: 10). Its sets are named LANG; repeatable
#   --set STEP.OPTION=VALUE       a setting of `fairseq-xl corpus` for all corpora, such as crawl.delay=1; repeatable.
#                        Choose negatives.low and negatives.high (`fairseq-xl corpus negatives --quantiles`) before you
#                        look at accuracies
#   --set-for LANG:STEP.OPTION=VALUE   the same for the corpora of one language, or with LANG.DOMAIN of one partition;
#                        repeatable
#   --text LANG=FILE     more text for a language's vectors, a sentence a line; repeatable
#   --vectors LANG=FILE  ready word vectors (.vec, .bin, .npy) of a language instead of trained ones
#   --one-space          the --vectors of all languages are in one space as they are (MUSE's): do not turn them
#   --dictionary LANG=FILE   a language's words and the first's, that put its vectors into the first's space
#                        (default: words that both write alike)
#   --refine N           rounds that refine these dictionaries (default: 5). Give 0 where they are large, such as those that
#                        `fairseq-xl data lexicon` learns from parallel text
#   --system SYSTEM      infersent (default), siamese_conv, siamese_lstm …
#   --sentence-encoder NAME   of infersent: bilstm_max (default), bilstm_mean, bigru_last, lstm_last, conv
#   --epochs N           of each training (default: 10)
#   --epochs-for SET:N   of the trainings on one language's corpus or partition, or on joint, which is larger or smaller;
#                        repeatable
#   --sets 'SET …'       train on the corpora of these languages (or partitions) alone, or on joint (default: all of them)
#   --folds 'N …'        folds to hold out (default: all)
#   --choose-on other|same   the fold that a training's best epoch is chosen on: the one after the fold that is
#                        reported, which then is left out of training, too (default), or the same, as in the paper
#   --rate clipped|halving|once   the learning rate stays and gradients are clipped to a norm of 5 (default), or it is
#                        halved after a gradient whose norm exceeds 5: for good, as in the paper, or for one update
#   --seed N             default: 1
#   --paraphrases SOURCE labelled pairs of the first language, such as
#                        'msr_paraphrase_train.txt,left=#1 String,right=#2 String,label=Quality': all models judge them;
#                        then five trainings from scratch and five from the model of --transfer-from, each with another
#                        fold held out to test on
#   --paraphrase-test SOURCE   test pairs of these, such as MSRP's 1,725: five trainings (seeds 1 to 5) on all --paraphrases
#                        instead, the last epoch of each tested on them
#   --transfer-from 'SET …'   whose best model by accuracy on its fold is tuned (default: the last one of --sets)
#   --supplement-with 'SET …'   then also trains from scratch on the paraphrases supplemented with the training pairs of
#                        these corpora, or of joint, and tests on the same paraphrases (default: none, as it takes longer)
#   --paraphrase-epochs N   of these trainings (default: as --epochs)
#   --sts LANG=SOURCE    pairs with graded similarities, such as en=stsb-en-dev.csv,left=1,right=2,score=3: how all
#                        models rank them; repeatable. Several are translations of each other, line by line, and are
#                        judged across languages, too
#   --prepare-only       stop before training
#   --dry-run            print the commands and run none
#   -- OPTION…           further options of fairseq-train
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
for part in check prepare model; do
  . "$(dirname "${BASH_SOURCE[0]}")/lib/semantic_similarity/$part.sh"
done

# The corpus paper's, but for the number of epochs, which it does not give, and for the learning rate (--rate halving).
TRAIN=(--task pair_classification --criterion pair_classification --optimizer adam --lr 0.001
  --batch-size 512 --dropout 0.5 --best-checkpoint-metric accuracy --maximize-best-checkpoint-metric
  --no-epoch-checkpoints --num-workers 0 --required-batch-size-multiple 1 --log-format json --log-interval 20)
OUT='' LANGUAGES='en fr' SYSTEM=infersent SENTENCE_ENCODER='' EPOCHS=10 SETS=() FOLDS='' SEED=1
PARAPHRASES='' PARAPHRASE_EPOCHS='' PARAPHRASE_TEST='' STARTS=() CHOOSE_ON=other RATE=clipped ONE_SPACE=no PREPARE_ONLY=no
PARAPHRASE_FOLDS='0 1 2 3 4' REFINE='' VECTORS=() SUPPLEMENTS=() PARTITIONS=() READY=()
declare -A RATES=([halving]="--lr-scheduler halving" [once]="--lr-scheduler halving --halve-for 1"
  [clipped]="--clip-norm 5")
BASES=() SETTINGS=() OWN_SETTINGS=() TEXTS=() DICTIONARIES=() GRADED=() OWN_EPOCHS=() TUNING=()

recipe_option() {
  TAKEN=2
  case $1 in
    --dry-run) DRY_RUN=yes TAKEN=1 ;;
    --prepare-only) PREPARE_ONLY=yes TAKEN=1 ;;
    --one-space) ONE_SPACE=yes TAKEN=1 ;;
    --out) OUT=$(absolute "$2") ;;
    --languages) LANGUAGES=$2 ;;
    --base) BASES+=("$2") ;;
    --partition) PARTITIONS+=("$2") ;;
    --corpus) READY+=("$2") ;;
    --set) SETTINGS+=("$2") ;;
    --set-for) OWN_SETTINGS+=("$2") ;;
    --text) TEXTS+=("$2") ;;
    --vectors) VECTORS+=("$2") ;;
    --dictionary) DICTIONARIES+=("$2") ;;
    --system) SYSTEM=$2 ;;
    --sentence-encoder) SENTENCE_ENCODER=$2 ;;
    --epochs) EPOCHS=$2 ;;
    --sets) read -ra SETS <<<"$2" ;;
    --epochs-for) OWN_EPOCHS+=("$2") ;;
    --folds) FOLDS=$2 ;;
    --seed) SEED=$2 ;;
    --paraphrases) PARAPHRASES=$2 ;;
    --paraphrase-epochs) PARAPHRASE_EPOCHS=$2 ;;
    --paraphrase-test) PARAPHRASE_TEST=$2 ;;
    --transfer-from) read -ra STARTS <<<"$2" ;;
    --supplement-with) read -ra SUPPLEMENTS <<<"$2" ;;
    --refine) REFINE=$2 ;;
    --choose-on) CHOOSE_ON=$2 ;;
    --rate) RATE=$2 ;;
    --sts) GRADED+=("$2") ;;
    *) TAKEN=0 ;;
  esac
}
read_options "$0" "$@"

prepare_stages() {
  local vectors=() lines=() prepared=() ready=()
  for CORPUS in "${CRAWLED[@]}"; do
    corpus_settings
    stage "corpus/$CORPUS.lines" '' make_lines "$FIRST" "${CORPUS_BASES[@]}" "$(fingerprint "${CORPUS_BASES[@]}")" \
      "$(settings_of_lines)"
    lines+=("corpus/$CORPUS.lines")
  done
  for CODE in "${CODES[@]}"; do
    stage "vectors/$CODE" "${lines[*]}" train_vectors "${TEXTS[@]%%=*}" "$(fingerprint "${TEXTS[@]#*=}")" \
      "${VECTORS[@]%%=*}" "$(fingerprint "${VECTORS[@]#*=}")"
    vectors+=("vectors/$CODE")
  done
  for CORPUS in "${CRAWLED[@]}"; do
    corpus_settings
    stage "corpus/$CORPUS.pairs" "corpus/$CORPUS.lines vectors/$FIRST" make_pairs "${CORPUS_SET[@]}"
    prepared+=("corpus/$CORPUS.pairs")
  done
  stage vectors/joined "${vectors[*]}" join_vectors "$ONE_SPACE" "$REFINE" "${DICTIONARIES[@]%%=*}" "$(fingerprint "${DICTIONARIES[@]#*=}")"
  for CORPUS in "${READY[@]#*=}"; do ready+=("$CORPUS"/*.tsv); done
  stage prepared/joint "vectors/joined ${prepared[*]}" prepare_joint "$PARAPHRASES" "$PARAPHRASE_TEST" "${READY[@]%%=*}" \
    "$(fingerprint_sources "$PARAPHRASES" "$PARAPHRASE_TEST")${ready:+ $(fingerprint "${ready[@]}")}"
  for CORPUS in "${CORPORA[@]}"; do stage "prepared/$CORPUS" prepared/joint prepare_one; done
  [[ -n $PARAPHRASES ]] || return 0
  stage prepared/paraphrases prepared/joint prepare_paraphrases "$PARAPHRASES" "$PARAPHRASE_TEST" \
    "$(fingerprint_sources "$PARAPHRASES" "$PARAPHRASE_TEST")"
  for SUPPLEMENT in "${SUPPLEMENTS[@]}"; do
    stage "prepared/paraphrases.with-$SUPPLEMENT" prepared/joint prepare_supplemented "$PARAPHRASES" "$PARAPHRASE_TEST" \
      "$(fingerprint_sources "$PARAPHRASES" "$PARAPHRASE_TEST")"
  done
}

check_settings
begin_in "$OUT"
activate
STAMPS=$OUT/stamps
locked "$OUT/lock" prepare_stages
[[ $PREPARE_ONLY == no ]] || exit 0
for SET in "${SETS[@]}"; do stage "tables/shallow.$SET" "prepared/$SET" judge_shallow "$FOLDS"; done
if [[ -n $PARAPHRASES ]]; then
  SET=paraphrases
  stage tables/shallow.paraphrases prepared/paraphrases judge_shallow
fi
DONE=()
for SET in "${SETS[@]}"; do
  SET_EPOCHS=$(values_of "$SET" : "${OWN_EPOCHS[@]}" | tail -n 1)
  SET_EPOCHS=${SET_EPOCHS:-$EPOCHS}
  for FOLD in $FOLDS; do
    RUN=$(run_of "$SET" "$FOLD") NAME=runs/$SET.$MODEL.seed$SEED.fold$FOLD
    stage "$NAME/train" "prepared/$SET" train_fold "$SET_EPOCHS" "$CHOOSE_ON" "$FOLD_COUNT" "${TRAIN[@]}" "${TUNING[@]}"
    stage "$NAME/record" "$NAME/train" record_fold
    DONE+=("$NAME/record")
  done
done
stage "tables/$MODEL.seed$SEED" "${DONE[*]}" tabulate "$FOLDS"
if [[ -n $PARAPHRASES ]]; then
  JUDGED=()
  for SET in "${SETS[@]}"; do
    for FOLD in $FOLDS; do
      RUN=$(run_of "$SET" "$FOLD") NAME=runs/$SET.$MODEL.seed$SEED.fold$FOLD
      stage "$NAME/paraphrases" "$NAME/train prepared/paraphrases" judge_paraphrases
      JUDGED+=("$NAME/paraphrases")
    done
  done
  stage "tables/$MODEL.seed$SEED.test-paraphrases" "${DONE[*]} ${JUDGED[*]}" tabulate_judged
fi
if ((${#GRADED[@]} > 0)); then
  for SET in "${SETS[@]}"; do
    stage "tables/$MODEL.seed$SEED.sts.$SET" "tables/$MODEL.seed$SEED" rank_graded "${GRADED[@]}" \
      "$(fingerprint_sources "${GRADED[@]#*=}")"
  done
fi
if [[ -n $PARAPHRASES ]]; then
  TRIED=() DONE=()
  try_paraphrases scratch "runs/paraphrases.scratch.$MODEL" paraphrases '' ''
  for START in "${STARTS[@]}"; do
    stage "runs/best.$START.$MODEL.seed$SEED" "tables/$MODEL.seed$SEED" choose_start "$FOLDS"
    try_paraphrases "transfer from $START" "runs/paraphrases.from-$START.$MODEL.seed$SEED" paraphrases \
      "$OUT/runs/best.$START.$MODEL.seed$SEED" "tables/$MODEL.seed$SEED runs/best.$START.$MODEL.seed$SEED"
  done
  for SUPPLEMENT in "${SUPPLEMENTS[@]}"; do
    try_paraphrases "supplemented with $SUPPLEMENT" "runs/paraphrases.with-$SUPPLEMENT.$MODEL" \
      "paraphrases.with-$SUPPLEMENT" '' ''
  done
  stage "tables/$MODEL.seed$SEED.paraphrases" "${DONE[*]}" tabulate_paraphrases "${STARTS[@]}" "${SUPPLEMENTS[@]}"
fi
[[ $DRY_RUN == yes ]] || say "tables: $OUT/tables"
