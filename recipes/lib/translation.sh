# shellcheck shell=bash
# The stages of a translation experiment, shared by train.sh, multi30k.sh, iwslt16.sh and tatoeba.sh: from line-aligned
# text to target vectors, a data directory, a trained model, translations and scores. The functions of the stages are in
# translation/: prepare.sh (text, vectors, data), distil.sh (a teacher's translations), model.sh (training) and
# translate.sh (translations, scores, record.json).
#
# A recipe changes the defaults it wants to, reads its command line with `read_options`, offers
# `recipe_option` for options of its own, `check_recipe` for what only it must check, and
# `plain_stages`, whose last stage `plain` writes PREPARED/plain/{train,valid,test}.{SRC,TGT}, and
# calls `translation_recipe`.

for part in prepare distil model translate; do
  . "$(dirname "${BASH_SOURCE[0]}")/translation/$part.sh"
done
SHARED_OPTIONS=$(dirname "${BASH_SOURCE[0]}")/translation/options.txt

LOSSES="cross_entropy cross_entropy_tied vmf cosine l2 negative_sampling most_informative_negative
syn_margin_proj syn_margin_diff power_spherical in_batch_negative info_nce vmf_posterior combined annealed stock
stock_transformer"
ARCHS="continuous_lstm continuous_lstm_tiny continuous_lstm_iwslt16 continuous_transformer continuous_transformer_iwslt
continuous_transformer_tiny"

# Settings that the recipes offer under the same names.
defaults() {
  SRC=de TGT=en LOSS=syn_margin_proj SEED=1 ARCH=continuous_lstm SIZE=256
  EPOCHS='' CONTINUOUS_EPOCHS=15 SOFTMAX_EPOCHS=15 STOCK_EPOCHS=14 TRANSFORMER_EPOCHS=50
  OUT='' DATA='' MONO='' VECTORS='' TEST='' NAME='' URL='' TUNING=() PREPARE_ONLY=no TRAIN_ONLY=no WARM_START=no
  DIM=300 VECTOR_EPOCHS=5 VECTOR_MIN_COUNT=2 VECTOR_SUBWORD=6 VECTOR_BUCKETS=200000
  VECTOR_THREADS='' TRANSFORM='' TRANSFORM_GIVEN=no LIMITS=() SUBWORDS='' SUBWORD_KIND=bpe SUBWORD_SIDES=both JOINT=no ABOUT=()
  SOURCE_MIN_COUNT='' TARGET_MIN_COUNT='' TARGET_EPOCHS=0 TARGET_LOSS='' LABEL_SMOOTHING='' SOFTMAX_NEGATIVES=0 READ_UNKNOWN='' SOURCE_MONO='' TEACHER=''
  DROPOUT=0.2 CONTINUOUS_DROPOUT='' LEARNING_RATE=1e-3 ANNEAL=''
  BATCH_TOKENS=3000 CLIP_NORM=0 DECODE_SCORE=cosine DECODE_SCALE='' CSLS_WEIGHT=0 WARMUP=4000 REPLACE_UNK='' TARGETS_RUN=''
  DIAGNOSE=best DIAGNOSE_WORDS=() USER_DIR='' IS_FILE=no SEARCH_GIVEN=() TUNE=no TEST_AS_OWN=no MIN_COVERAGE=''
  THREADS=$(nproc 2>/dev/null || echo 2)
}

# What was tuned on Multi30k's validation set, for corpora like it.
tuned_defaults() {
  # Whole-word vectors, centred: subwords make rare words of one spelling alike, and the direction that
  # all words share makes every word near every other. One thread, so that they repeat exactly.
  VECTOR_SUBWORD=0 VECTOR_THREADS=1 TRANSFORM='--normalize-first --center --normalize'
  # Batches of 3,000 tokens took three times as many epochs to the same accuracy.
  LEARNING_RATE=2e-3 BATCH_TOKENS=1000 CLIP_NORM=1 ANNEAL=0.6
  # A continuous output needs no dropout for this long: with 0.2, accuracy@1 after three epochs was 61.1
  # instead of 65.3. A softmax overfits without.
  DROPOUT=0.3 CONTINUOUS_DROPOUT=0
  # Trained without dropout, a margin loss's norm tells a beam as much as vMF's; crowded regions of the table
  # are corrected for. On validation at beam 5: 35.6 BLEU by the cosine, 36.0 with the norm, 36.7 with both.
  DECODE_SCORE=vmf_posterior CSLS_WEIGHT=0.5
}

# Of a text that may be compressed.
lines_and_bytes() { # FILE
  local reader=(cat)
  [[ $1 != *.gz ]] || reader=(gzip -cd)
  "${reader[@]}" "$1" 2>/dev/null | wc -lc || fail "$1 is no gzip file: check the name"
}

# By the number of training pairs: as tuned on Multi30k's 29,000, or as measured on Tatoeba's 165,800. In a trial of 12
# epochs on Multi30k a softmax was at its best on validation after 8; vectors still learn then, in epochs half as long.
sized_defaults() { # PAIRS
  # Words seen at least twice, fairseq's four included: of Multi30k 7,864 German and 5,928 English types.
  LIMITS=(--thresholdsrc 2 --thresholdtgt 2)
  if (($1 < 100000)); then
    CONTINUOUS_EPOCHS=16 SOFTMAX_EPOCHS=8 TRANSFORMER_EPOCHS=80
    # An epoch is some 400 updates; only Transformers warm up for long.
    WARMUP=1000
  else
    CONTINUOUS_EPOCHS=8 SOFTMAX_EPOCHS=5 STOCK_EPOCHS=8 TRANSFORMER_EPOCHS=30
  fi
}

# The vectors of a softmax's output layer as targets (Tokarchuk & Niculae 2022): with those of </s> and <unk>, and as
# they are. No region of them is crowded, so that correcting for it cost 2.3 BLEU on validation.
softmax_targets() {
  [[ $TRANSFORM_GIVEN == yes ]] || TRANSFORM='--specials --normalize'
  DECODE_SCORE=cosine DECODE_SCALE=40 CSLS_WEIGHT=0
  if [[ $TARGET_LOSS == *_tied ]]; then ABOUT+=("targets=tied softmax"); else ABOUT+=("targets=softmax"); fi
}

common_option() { # OPTION VALUE [VALUE]
  TAKEN=2
  case $1 in
    --dry-run) DRY_RUN=yes TAKEN=1 ;;
    --prepare-only) PREPARE_ONLY=yes TAKEN=1 ;;
    --train-only) TRAIN_ONLY=yes TAKEN=1 ;;
    --joint) JOINT=yes TAKEN=1 ;;
    --warm-start) WARM_START=yes TAKEN=1 ;;
    --src) SRC=$2 ;;
    --tgt) TGT=$2 ;;
    --loss)
      LOSS=$2
      [[ $LOSS != softmax ]] || LOSS=cross_entropy # fairseq's name of it
      ;;
    --seed) SEED=$2 ;;
    --arch) ARCH=$2 ;;
    --size) SIZE=$2 ;;
    --epochs) EPOCHS=$2 ;;
    --out) OUT=$(absolute "$2") ;;
    --data) DATA=$(absolute "$2") ;;
    --mono) MONO=$(absolute "$2") ;;
    --vectors) VECTORS=$(absolute "$2") ;;
    --vector-epochs) VECTOR_EPOCHS=$2 ;;
    --transform) TRANSFORM=$2 TRANSFORM_GIVEN=yes ABOUT+=("transform=$2") ;;
    --source-min-count) SOURCE_MIN_COUNT=$2 ;;
    --target-min-count) TARGET_MIN_COUNT=$2 ;;
    --target-epochs) TARGET_EPOCHS=$2 ;;
    --target-loss) TARGET_LOSS=$2 ;;
    --label-smoothing) LABEL_SMOOTHING=$2 ;;
    --softmax-negatives) SOFTMAX_NEGATIVES=$2 ;;
    --read-unknown) READ_UNKNOWN=$2 ;;
    --source-mono) SOURCE_MONO=$(absolute "$2") ;;
    --teacher) TEACHER=$(absolute "$2") ;;
    --subwords) SUBWORDS=$2 ;;
    --subword-kind) SUBWORD_KIND=$2 ;;
    --subword-sides) SUBWORD_SIDES=$2 ;;
    --test) TEST=$(absolute "$2") ;;
    --name) NAME=$2 ;;
    --threads) THREADS=$2 ;;
    --replace-unk) REPLACE_UNK=$2 ;;
    --search) read -rd '' -a SEARCH_GIVEN < <(printf '%s\0' "$2") ;; # of several lines, too
    --diagnose) DIAGNOSE=$2 ;;
    --diagnose-words) read -ra DIAGNOSE_WORDS <<<"$2" ;;
    --user-dir) USER_DIR=$(absolute "$2") PLUGIN=$(absolute "$2") ;;
    *) TAKEN=0 ;;
  esac
}

# Refuses what cannot work before any stage starts.
check_settings() {
  check_names
  choose_epochs
  check_numbers
  check_units
  check_softmax
  read_search
  check_files
}

check_names() {
  local option
  if [[ -n $USER_DIR ]]; then
    [[ -f $USER_DIR/__init__.py ]] || fail "--user-dir $USER_DIR is no plugin: there is no __init__.py in it"
    for option in LOSS ARCH; do
      [[ ${!option} =~ ^[A-Za-z0-9_]+$ ]] || fail "--${option,,} is '${!option}': give the name of one"
    done
    [[ $TRAIN_ONLY == yes || $PREPARE_ONLY == yes || $LOSS == stock* ]] || one_of "$ARCH" "$ARCHS" ||
      fail "--arch is '$ARCH', and fairseq-xl translate loads no model of --user-dir: give --train-only, or choose one of" $ARCHS
  else
    one_of "$LOSS" "$LOSSES" || fail "--loss is '$LOSS': choose one of" $LOSSES
    one_of "$ARCH" "$ARCHS" || fail "--arch is '$ARCH': choose one of" $ARCHS
  fi
}

choose_epochs() {
  case $LOSS in
    stock) EPOCHS=${EPOCHS:-$STOCK_EPOCHS} ;;
    stock_transformer)
      EPOCHS=${EPOCHS:-$TRANSFORMER_EPOCHS}
      [[ -n $SUBWORDS ]] || SUBWORDS=10000 JOINT=yes # as fairseq's own example on TED talks
      ;;
    cross_entropy* | vmf_posterior | combined)
      if [[ -z $EPOCHS && $WARM_START == yes && $TARGET_EPOCHS =~ ^[0-9]+$ ]]; then
        EPOCHS=$((SOFTMAX_EPOCHS - 10#$TARGET_EPOCHS)) # all in all as long as a softmax
        ((EPOCHS > 0)) ||
          fail "--target-epochs is $TARGET_EPOCHS, of $SOFTMAX_EPOCHS in all: give fewer, or --epochs N"
      fi
      EPOCHS=${EPOCHS:-$SOFTMAX_EPOCHS}
      ;;
    *) EPOCHS=${EPOCHS:-$CONTINUOUS_EPOCHS} ;;
  esac
  # A sentence without blanks would be one word, which hardly any other has.
  if without_blanks; then SUBWORDS=${SUBWORDS:-8000}; fi
  SUBWORDS=${SUBWORDS:-0}
}

check_numbers() {
  local option
  need_seed --seed "$SEED"
  for option in SIZE SUBWORDS TARGET_EPOCHS SOFTMAX_NEGATIVES; do need_number "--$(tr 'A-Z_' 'a-z-' <<<"$option")" "${!option}"; done
  need_count --epochs "$EPOCHS"
  need_count --vector-epochs "$VECTOR_EPOCHS"
  need_count --threads "$THREADS"
  [[ -z $SOURCE_MIN_COUNT ]] || need_count --source-min-count "$SOURCE_MIN_COUNT"
  [[ -z $TARGET_MIN_COUNT ]] || need_count --target-min-count "$TARGET_MIN_COUNT"
  need_code --src "$SRC"
  need_code --tgt "$TGT"
  [[ -z $NAME ]] || need_name --name "$NAME"
}

# Subwords, unknown words, and what is diagnosed.
check_units() {
  [[ $REPLACE_UNK =~ ^(|attention|lexicon)$ ]] ||
    fail "--replace-unk is '$REPLACE_UNK': choose attention or lexicon"
  [[ $DIAGNOSE =~ ^(best|epochs|no)$ ]] || fail "--diagnose is '$DIAGNOSE': choose best, epochs or no"
  [[ $SUBWORD_KIND =~ ^(bpe|unigram)$ ]] || fail "--subword-kind is '$SUBWORD_KIND': choose bpe or unigram"
  [[ $SUBWORDS != 0 || $SUBWORD_KIND == bpe ]] || fail "--subword-kind is for subwords: give --subwords N, too"
  [[ $DIAGNOSE != no || ${#DIAGNOSE_WORDS[@]} == 0 ]] || fail "--diagnose-words has no effect with --diagnose no: leave one out"
  [[ $SUBWORDS != 0 || $JOINT == no ]] || fail "--joint is for subwords: give --subwords N, too"
  [[ $SUBWORD_SIDES =~ ^(both|source)$ ]] || fail "--subword-sides is '$SUBWORD_SIDES': choose both or source"
  [[ $SUBWORDS != 0 || $SUBWORD_SIDES == both ]] || fail "--subword-sides is for subwords: give --subwords N, too"
  [[ $SUBWORD_SIDES == both || $JOINT == no ]] || fail "--joint is for subwords of both sides: leave out --subword-sides"
  [[ $LOSS != stock_transformer || $((SIZE % 4)) == 0 ]] ||
    fail "--size is '$SIZE': the transformer's four heads need a multiple of 4"
  local words_alone="for whole words, as subwords leave none unknown: leave that out, or give --subwords 0"
  [[ $SUBWORDS == 0 || -z $REPLACE_UNK ]] || fail "--replace-unk is $words_alone"
  [[ $SUBWORDS == 0 || -z $SOURCE_MIN_COUNT && ($SUBWORD_SIDES == source || -z $TARGET_MIN_COUNT) ]] ||
    fail "--source-min-count and --target-min-count are $words_alone"
  [[ $READ_UNKNOWN =~ ^(|0|0?\.[0-9]+|1)$ ]] || fail "--read-unknown is '$READ_UNKNOWN': give a cosine from 0 to 1"
  [[ $SUBWORDS == 0 || -z $READ_UNKNOWN ]] || fail "--read-unknown is $words_alone"
  [[ -z $SOURCE_MONO || -n $READ_UNKNOWN ]] || fail "--source-mono is text for --read-unknown: give that, too"
  [[ -z $SOURCE_MONO ]] || need_file "$SOURCE_MONO" "text for --source-mono,"
}

# What a softmax gives: target vectors, a start, and what only its loss has.
check_softmax() {
  if [[ $TARGET_EPOCHS != 0 ]]; then
    [[ $LOSS != stock* && $LOSS != cross_entropy* ]] ||
      fail "--target-epochs is for continuous outputs: $LOSS has a softmax of its own"
    [[ -z $VECTORS ]] || fail "--target-epochs and --vectors both name the targets: give one of them"
  fi
  if [[ -n $TARGET_LOSS ]]; then
    [[ $TARGET_LOSS =~ ^cross_entropy(_tied)?$ ]] || fail "--target-loss is '$TARGET_LOSS': choose cross_entropy or cross_entropy_tied"
    [[ $TARGET_EPOCHS != 0 ]] || fail "--target-loss is the loss of the softmax of --target-epochs: give that, too"
  fi
  [[ $WARM_START == no || $TARGET_EPOCHS != 0 || $VECTORS == *.pt ]] ||
    fail "--warm-start begins with the softmax whose vectors are the targets: give --target-epochs N, or its checkpoint with --vectors"
  [[ $WARM_START == no || ! $LOSS =~ ^(stock|cross_entropy) ]] ||
    fail "--warm-start is for continuous outputs, which go on from a softmax: not for $LOSS"
  [[ $VECTORS != *.pt || $LOSS != stock* ]] || fail "--vectors $VECTORS is a softmax's checkpoint, and $LOSS has no target vectors: leave it out"
  if [[ -n $LABEL_SMOOTHING ]]; then
    [[ $LABEL_SMOOTHING =~ ^0?\.[0-9]{1,9}$ ]] ||
      fail "--label-smoothing is '$LABEL_SMOOTHING': give a share from 0 to below 1, such as 0.1"
    [[ $TARGET_EPOCHS != 0 || $LOSS =~ ^(cross_entropy|cross_entropy_tied|vmf_posterior|combined)$ ]] ||
      fail "--label-smoothing is for likelihoods (cross_entropy, cross_entropy_tied, vmf_posterior, combined and the softmax of --target-epochs): $LOSS has none"
  fi
  if [[ $SOFTMAX_NEGATIVES != 0 ]]; then
    [[ $TARGET_EPOCHS != 0 || $LOSS =~ ^(cross_entropy|cross_entropy_tied)$ ]] ||
      fail "--softmax-negatives is for the softmax of cross_entropy, cross_entropy_tied or --target-epochs: not for $LOSS"
    [[ -z $LABEL_SMOOTHING ]] ||
      fail "--softmax-negatives and --label-smoothing do not go together; 'combined' alone is smoothed by -- --main-options label_smoothing=E"
  fi
}

check_files() {
  [[ $SRC != "$TGT" ]] || fail "--src and --tgt are both '$SRC': give two languages"
  [[ -n $OUT ]] || fail "--out is missing: name the folder for data, checkpoints and scores"
  need_folder_name --out "$OUT"
  [[ $IS_FILE == yes || -z $DATA || -d $DATA ]] || fail "--data $DATA is no folder: check the name"
  [[ -z $MONO ]] || need_file "$MONO" "text for --mono,"
  [[ -z $VECTORS ]] || need_file "$VECTORS" "vector file for --vectors,"
  # An experiment's file may have it for its other systems.
  [[ -z $VECTORS || -z $MONO ]] || say "--mono is not used: it is text for vectors, and --vectors gives ready ones"
  if [[ -n $TEST ]]; then
    need_file "$TEST.$SRC" "test set for --test,"
    need_file "$TEST.$TGT" "test set for --test,"
    need_name --test "$(basename "$TEST")"
    [[ ! $(basename "$TEST") =~ ^test$|unknown_by_ ]] ||
      fail "--test $TEST: its scores could not be told from the recipe's own by that name; give the files another one"
  fi
}

# Names what a run reads and writes, by what its options are.
name_folders() {
  local option side arch=.$ARCH targets=''
  PREPARED=$OUT/prepared/$SRC-$TGT
  LEXICON=$PREPARED/lexicon.$SRC-$TGT.tsv
  # What comes from the text alone is in TEXT_FOLDER: PREPARED itself for words, a folder in it for subwords, whose stages
  # bear its name (IN_TEXT). The vectors are in TARGET_FOLDER (IN_TARGET): TEXT_FOLDER, or PREPARED where the source side
  # alone is of subwords. What depends on the dictionaries, too, is in UNITS_FOLDER: TEXT_FOLDER, or a folder of its own
  # for words of other minimal counts than the recipe's (IN_UNITS).
  UNITS='' TEXT_FOLDER=$PREPARED IN_TEXT='' TEXTS=$PREPARED/true
  if [[ $SUBWORDS != 0 ]]; then
    UNITS=$SUBWORD_KIND$SUBWORDS
    [[ $JOINT == no ]] || UNITS+=.joint
    [[ $SUBWORD_SIDES == both ]] || UNITS+=.source
    TEXT_FOLDER=$PREPARED/$UNITS IN_TEXT=$UNITS/ TEXTS=$PREPARED/$UNITS/pieces
    ABOUT+=("subwords=$UNITS")
    # Every piece of the training text has a place in the dictionary and a vector of its own.
    if of_pieces "$TGT"; then LIMITS=() VECTOR_MIN_COUNT=1 VECTOR_SUBWORD=0; else LIMITS+=(--thresholdsrc 0); fi
  fi
  TARGET_FOLDER=$TEXT_FOLDER IN_TARGET=$IN_TEXT TARGET_TEXTS=$TEXTS
  of_pieces "$TGT" || TARGET_FOLDER=$PREPARED IN_TARGET='' TARGET_TEXTS=$PREPARED/true
  for option in SOURCE_MIN_COUNT TARGET_MIN_COUNT; do
    [[ -n ${!option} ]] || continue
    side=src
    [[ $option == SOURCE* ]] || side=tgt
    LIMITS+=("--threshold$side" "${!option}")
    ABOUT+=("${option,,}=${!option}")
    UNITS+=${UNITS:+.}$side.min${!option}
  done
  UNITS_FOLDER=$PREPARED${UNITS:+/$UNITS} IN_UNITS=${UNITS:+$UNITS/}
  TRAINING_DATA=$UNITS_FOLDER/bin DATA_STAGE=${IN_UNITS}preprocess
  [[ $LOSS != stock* ]] || arch=''
  if [[ $VECTORS == *.pt || $TARGET_EPOCHS != 0 ]]; then
    softmax_targets
    targets=.softmax_targets
    [[ $TARGET_EPOCHS == 0 ]] || targets+=$TARGET_EPOCHS ABOUT+=("target_epochs=$TARGET_EPOCHS")
    [[ $TARGET_LOSS != *_tied ]] || targets+=.tied
    [[ $WARM_START == no ]] || targets+=.warm_start ABOUT+=("warm_start=yes")
  fi
  [[ -z $LABEL_SMOOTHING ]] || targets+=.smoothed$LABEL_SMOOTHING ABOUT+=("label_smoothing=$LABEL_SMOOTHING")
  [[ $SOFTMAX_NEGATIVES == 0 ]] || targets+=.sampled$SOFTMAX_NEGATIVES ABOUT+=("softmax_negatives=$SOFTMAX_NEGATIVES")
  if [[ -n $TEACHER ]]; then
    check_teacher
    targets+=.distilled
  fi
  NAME=${NAME:-$SRC-$TGT.$LOSS$arch.$SIZE${UNITS:+.$UNITS}$targets.seed$SEED}
  RUN=$OUT/runs/$NAME
}

experiment() {
  local scored=() lexicon=()
  [[ $REPLACE_UNK != lexicon ]] || lexicon=("$(fingerprint "$LEXICON")")
  model_options
  claim_run
  locked "$PREPARED/lock" choose_test
  # All unknown words are one number in the data, and their spelling is what replaces them.
  [[ -z $REPLACE_UNK ]] || lexicon+=("$(fingerprint "$SPELLING")")
  STAMPS=$RUN/stamps
  stage train '' train_model "$EPOCHS" "$(fingerprint "$RUN/settings")"
  if [[ $TRAIN_ONLY == yes ]]; then return; fi
  if [[ $TUNE == yes ]]; then
    stage tune train tune_search
    [[ $DRY_RUN == yes ]] || read -ra SEARCH_GIVEN <"$RUN/tune.search"
    read_search
  fi
  stage model train pack_model "${SEARCH[*]}"
  for BEAM in 1 5; do
    stage "${LABEL}translate.beam$BEAM" train translate "$(fingerprint "$TEST_DATA/test.$SRC-$TGT.$SRC.bin")" \
      "${SEARCH[*]}" "${lexicon[@]}"
    stage "${LABEL}score.beam$BEAM" "${LABEL}translate.beam$BEAM" score "$(fingerprint "$REFERENCE")"
    scored+=("${LABEL}score.beam$BEAM")
  done
  stage "${LABEL}record" "${scored[*]}" write_record
  if [[ $LOSS != stock* && $LOSS != cross_entropy* && $DIAGNOSE != no ]]; then
    stage diagnose train diagnose "$DIAGNOSE" "${DIAGNOSE_WORDS[@]}"
  fi
  [[ $DRY_RUN == yes ]] || say "scores and settings: $RUN/record.json; raw text: fairseq-xl translate text $RUN/model"
}

translation_recipe() {
  check_settings
  name_folders
  check_recipe
  begin_in "$OUT"
  activate
  [[ $TARGET_EPOCHS == 0 ]] || train_targets
  prepare
  [[ $PREPARE_ONLY == yes ]] || locked "$RUN/lock" experiment
}
