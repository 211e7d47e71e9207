# shellcheck shell=bash
# The stages of a classification experiment, shared by sentiment.sh and emoji.sh: from labelled text to a trained
# Siamese encoder or a baseline, its predictions and a record of them.
#
# A recipe sets its defaults after `defaults`, reads its command line with `read_options`, offers `recipe_option` for
# options of its own (PASSED holds those that a teacher gets as well), `check_recipe` for what only it must check,
# `fetch_files`, which downloads the text of LANGUAGE into DATA, and `sources LANGUAGE`, which fills SOURCES with that
# language's sources of `fairseq-xl classify prepare`, and calls `classification_recipe`.

. "$(dirname "${BASH_SOURCE[0]}")/classification/check.sh"

# Every Siamese encoder is trained with these.
TRAIN=(--task siamese_contrastive --arch ssc_bilstm --criterion contrastive --optimizer adam --clip-norm 5
  --best-checkpoint-metric macro_f1 --maximize-best-checkpoint-metric --no-epoch-checkpoints --num-workers 0
  --required-batch-size-multiple 1 --log-format json --log-interval 50)

# The paper's configuration: trigrams, the last states, equation 1, the drawn pairs alone, most matches of 100
# references. It does not say the sizes of embeddings and states, the margin, the optimiser or the batch.
PAPER_PREPARE=(--ngrams 3)
PAPER_TRAIN=(--lr 0.001 --batch-size 64 --margin 0.5 --embed-dim 100 --hidden-dim 256 --pooling last
  --dense-order dense_relu --rule matches --match-threshold 0.5)
PAPER_PREDICT=(--rule matches --threshold 0.5 --references 100 --draws 5)

# Ours: pairs of the low-resource language among the others, every pair of a batch, a joint classification loss (while
# classes are mixed, pull and push of pairs cancel), pooling over all places, shorter n-grams beside the trigrams, of
# which new text has fewer that are unseen, and references of the low-resource language: by English ones Spanish came to
# a macro-F1 of 44 on validation instead of 54. With a dropout of 0.5 Spanish came to 45, German to 64 instead of 65.
BEST_PREPARE=(--ngrams 3 2 1 --lower --min-count 2)
BEST_TRAIN=(--lr 0.002 --batch-size 32 --margin 0 --all-pairs --class-head --class-weight 1 --embed-dim 64
  --hidden-dim 128 --pooling max --dense-order dense_relu --dropout 0.3 --unit-dropout 0.1 --rule centroid
  --reference-side low)
BEST_PREDICT=(--rule centroid --reference-side low --references 100 --draws 5)

SHARED_OPTIONS=$(dirname "${BASH_SOURCE[0]}")/classification/options.txt

BASELINES="asv mv-rnn dsc-t mnb-h bilstm-w bilstm-c svm fasttext st"
SIAMESE="siamese siamese-mono siamese-control paper paper-mono paper-control"

# Settings that both recipes offer under the same names.
defaults() {
  LOW='' HIGH='' SYSTEM=siamese SEED=1 UPDATES=2000 EVERY=100 OUT='' DATA='' NAME='' SPLIT=test PREPARE_ONLY=no
  MORE_TEXT='' MODEL='' PARSES=''
  LOW_RESOURCE_SIZE=0 HIGH_RESOURCE_SIZE=0 LOW_SOURCES=() HIGH_SOURCES=() CLASS_SOURCES=() SOURCES=() UNLABELLED=()
  LEXICONS=() LOW_VECTORS='' HIGH_VECTORS='' VECTORS=()
  PRETRAIN=0 HIGH_WORDS=translated WITH_HIGH=no DRAWS=one CLASS_BIAS=no MORPHEMES=no PAPER_PAIRS=low-high
  TUNING=() SELECTION=() SELECTION_NAME='' BASELINE_OPTIONS=() ABOUT=() PASSED=()
}

common_option() { # OPTION VALUE [VALUE]
  TAKEN=2
  case $1 in
    --dry-run) DRY_RUN=yes TAKEN=1 ;;
    --prepare-only) PREPARE_ONLY=yes TAKEN=1 ;;
    --unlabelled) UNLABELLED=("$(absolute "$2")" "$(absolute "$3")") TAKEN=3 ;;
    --low-resource) LOW=$2 ;;
    --high-resource) HIGH+=${HIGH:++}$2 ;; # of several: en+fr
    --high-words) HIGH_WORDS=$2 ;;
    --with-high-resource) WITH_HIGH=$2 ;;
    --draws) DRAWS=$2 ;;
    --class-bias) CLASS_BIAS=$2 ;;
    --morphemes) MORPHEMES=$2 ;;
    --pretrain) PRETRAIN=$2 ;;
    --lexicon) LEXICONS+=("$2") ;;
    --low-vectors) LOW_VECTORS=$(absolute "$2") ;;
    --high-vectors) HIGH_VECTORS=$(absolute "$2") ;;
    --system | --loss) SYSTEM=$2 ;; # `fairseq-xl experiment` calls what it compares a loss
    --seed) SEED=$2 ;;
    --updates) UPDATES=$2 ;;
    --every) EVERY=$2 ;;
    --out) OUT=$(absolute "$2") ;;
    --data) DATA=$(absolute "$2") ;;
    --name) NAME=$2 ;;
    --split) SPLIT=$2 ;;
    --low-resource-size) LOW_RESOURCE_SIZE=$2 ;;
    --high-resource-size) HIGH_RESOURCE_SIZE=$2 ;;
    --low-resource-source) LOW_SOURCES+=("$2") ;;
    --high-resource-source) HIGH_SOURCES+=("$2") ;;
    --class-source) CLASS_SOURCES+=("$2") ;;
    --more-text) MORE_TEXT=$(absolute "$2") ;;
    --parses) PARSES=$(absolute "$2") ;;
    --model) MODEL=$2 ;;
    *) TAKEN=0 ;;
  esac
}

# For `fetch_files`: a file of DATA.
get() { # URL FILE
  run fairseq-xl data fetch "$1" --output "$DATA/$2" \
    --otherwise "download it elsewhere and give its folder with --data DIR"
}

# Everything that a Siamese encoder or a baseline learns from. All systems of one language share the split.
prepare_files() {
  local words=(--output "$DIRECTORY" --low-resource "${LOW_SOURCES[@]}" --languages "$LOW")
  [[ $HIGH == none ]] || words+=("$HIGH" --high-resource "${HIGH_SOURCES[@]}")
  [[ $LOW_RESOURCE_SIZE == 0 ]] || words+=(--low-resource-size "$LOW_RESOURCE_SIZE")
  [[ $HIGH_RESOURCE_SIZE == 0 || $HIGH == none ]] || words+=(--high-resource-size "$HIGH_RESOURCE_SIZE")
  [[ $SYSTEM != *-control ]] || words+=(--shuffle-high-resource)
  [[ $HIGH_WORDS != shuffled || ${#LEXICONS[@]} == 0 ]] || words+=(--shuffle-lexicon)
  [[ ${#VECTORS[@]} == 0 ]] || words+=(--vectors "${VECTORS[@]}")
  [[ $HIGH_WORDS != shuffled || ${#VECTORS[@]} == 0 ]] || words+=(--shuffle-vectors)
  [[ $DRAWS == one ]] || words+=(--seed "$SEED")
  [[ ${#CLASS_SOURCES[@]} == 0 || " ${SELECTION[*]} " == *" --classes "* ]] || words+=(--class-source "${CLASS_SOURCES[@]}")
  # A teacher's own text may have classes that are not those of what it labels.
  [[ ${#CLASS_SOURCES[@]} == 0 || " ${SELECTION[*]} " == *" --others "* ]] || words+=(--others drop)
  run fairseq-xl classify prepare "${words[@]}" "${PREPARE[@]}" "${SELECTION[@]}"
  makes "$DIRECTORY"
}

show_statistics() {
  logged "$DIRECTORY.statistics.md" fairseq-xl classify statistics "$DIRECTORY"
  [[ $DRY_RUN == yes ]] || cat "$DIRECTORY.statistics.md" >&2
}

# Validation every so many updates alone: an epoch of a hundred sentences has a dozen.
train_pairs() { # LOG CHECKPOINTS UPDATES OPTION…
  claim_checkpoints "$2"
  logged_training "$1" "$2" fairseq-train "$DIRECTORY" --user-dir "$PLUGIN" "${TRAIN[@]}" "${@:4}" --seed "$SEED" \
    --max-update "$3" --validate-interval-updates "$EVERY" --save-interval-updates "$EVERY" \
    --validate-interval 1000000 --save-interval 1000000 --keep-interval-updates 1 --save-dir "$2" "${TUNING[@]}"
}

# The low-resource language's validation chooses here, too.
pretrain_siamese() {
  train_pairs "$RUN/pretrain.log" "$RUN/pretrained" "$PRETRAIN" --pairs high-high
  makes "$RUN/pretrained/checkpoint_best.pt"
}

train_siamese() {
  local options=()
  case $SYSTEM in
    *-mono) options=(--pairs low-low) ;;
    *) [[ $HIGH == none ]] || options=(--pairs "$MIXTURE") ;;
  esac
  # With a quarter of the learning rate, so that it does not begin anew.
  [[ $PRETRAIN == 0 ]] || options+=(--finetune-from-model "$RUN/pretrained/checkpoint_best.pt" --lr 0.0005)
  train_pairs "$RUN/train.log" "$RUN/checkpoints" "$UPDATES" "${options[@]}"
  makes "$RUN/checkpoints/checkpoint_best.pt"
}

record_siamese() {
  run fairseq-xl classify predict "$RUN/checkpoints/checkpoint_best.pt" --split "$SPLIT" --name "$LABEL" \
    --output "$RUN/record.json" "${PREDICT[@]}" "${ABOUT[@]}"
  makes "$RUN/record.json"
}

# Section 3.3: a classifier of the high-resource language alone, and what it says of its side of the unlabelled pairs.
train_teacher() {
  local source sources=()
  # It labels text of its own language, so it reads that as it is written.
  for source in "${HIGH_SOURCES[@]}"; do sources+=(--low-resource-source "$(sed 's/,lexicon=[^,]*//' <<<"$source")"); done
  for source in "${CLASS_SOURCES[@]}"; do sources+=(--class-source "$source"); done
  run bash "$RECIPE" --out "$OUT/teacher" --low-resource "$HIGH" --high-resource none --name teacher \
    --updates "$UPDATES" --every "$EVERY" "${PASSED[@]}" "${sources[@]}" -- "${TUNING[@]}"
  makes "$OUT/teacher/runs/teacher/checkpoints/checkpoint_best.pt"
}

# The teacher's rule is that of its own training, whatever that of the one that learns from it.
label_unlabelled() {
  run fairseq-xl classify label "$OUT/teacher/runs/teacher/checkpoints/checkpoint_best.pt" "${UNLABELLED[@]}" \
    --output "$OUT/unlabelled/high.tsv" "$OUT/unlabelled/low.tsv"
  makes "$OUT"/unlabelled/{high,low}.tsv
}

record_baseline() {
  run fairseq-xl classify baseline "$SYSTEM" "$DIRECTORY" --split "$SPLIT" --seed "$SEED" --output "$RUN/record.json" \
    "${BASELINE_OPTIONS[@]}"
  makes "$RUN/record.json"
}

# What the system trains and predicts with.
choose_options() {
  MIXTURE=low-high+low-low
  if [[ $SYSTEM == paper* ]]; then
    PRESET=paper MIXTURE=$PAPER_PAIRS PREPARE=("${PAPER_PREPARE[@]}") TRAIN+=("${PAPER_TRAIN[@]}") PREDICT=("${PAPER_PREDICT[@]}")
  else
    PRESET=best PREPARE=("${BEST_PREPARE[@]}") TRAIN+=("${BEST_TRAIN[@]}") PREDICT=("${BEST_PREDICT[@]}")
  fi
  # A baseline refuses an option that it does not read, and an experiment gives all systems the same.
  case $SYSTEM in
    asv | dsc-t) [[ -z $MORE_TEXT ]] || BASELINE_OPTIONS+=(--more-text "$MORE_TEXT") ;;
    st) [[ -z $MODEL ]] || BASELINE_OPTIONS+=(--model "$MODEL") ;;
    mv-rnn) [[ -z $PARSES ]] || BASELINE_OPTIONS+=(--parses "$PARSES") ;;
  esac
}

# The folder of the data that all systems of these settings share, and the run's own.
name_folders() {
  local size='' bridge=''
  DATA_KEY=$LOW-$HIGH.$PRESET$SELECTION_NAME
  if [[ $MORPHEMES == yes ]]; then PREPARE+=(--morphemes low) size+=.morphemes; fi
  [[ $LOW_RESOURCE_SIZE == 0 ]] || size+=.$LOW_RESOURCE_SIZE
  [[ $HIGH_RESOURCE_SIZE == 0 || $HIGH == none ]] || size+=.high$HIGH_RESOURCE_SIZE
  DATA_KEY+=$size
  [[ $SYSTEM != *-control ]] || DATA_KEY+=.shuffled
  [[ $DRAWS == one ]] || DATA_KEY+=.draw$SEED
  [[ $DRAWS == one ]] || size+=.draw
  [[ $WITH_HIGH == no ]] || BASELINE_OPTIONS+=(--with-high-resource) size+=.with-high
  [[ ${#VECTORS[@]} == 0 ]] || bridge=.vectors TRAIN+=(--embed-dim 0)
  [[ ${#LEXICONS[@]} == 0 && $HIGH_WORDS != shuffled ]] || bridge+=.$HIGH_WORDS
  size+=$bridge DATA_KEY+=$bridge
  [[ $PRETRAIN == 0 ]] || size+=.pretrained
  [[ $CLASS_BIAS == no ]] || size+=.bias
  [[ $SPLIT == test ]] || size+=.$SPLIT
  [[ $SYSTEM != st || -z $MODEL ]] || size+=.$(tr -c 'A-Za-z0-9._\n-' _ <<<"$MODEL")
  [[ ${#UNLABELLED[@]} == 0 ]] || size+=.unlabelled
  NAME=${NAME:-$LOW-$HIGH.$SYSTEM$SELECTION_NAME$size.seed$SEED}
  DIRECTORY=$OUT/data/$DATA_KEY RUN=$OUT/runs/$NAME STAMPS=$OUT/stamps
}

# What tables and curves call the system.
name_system() {
  local line
  LABEL="SSC($LOW-$HIGH)"
  [[ $SYSTEM != *-mono && $HIGH != none ]] || LABEL="SSC($LOW-$LOW)"
  [[ $SYSTEM != paper* ]] || LABEL+=", the paper's"
  [[ $SYSTEM != *-control ]] || LABEL+=", labels shuffled"
  [[ ${#LEXICONS[@]} == 0 ]] || LABEL+=", words $HIGH_WORDS"
  [[ ${#VECTORS[@]} == 0 ]] || LABEL+=", bilingual vectors"
  [[ ${#VECTORS[@]} == 0 || $HIGH_WORDS != shuffled ]] || LABEL+=" shuffled"
  [[ $PRETRAIN == 0 ]] || LABEL+=", pretrained"
  [[ $MORPHEMES == no ]] || LABEL+=", morphemes"
  [[ $HIGH_RESOURCE_SIZE == 0 || $HIGH == none ]] || LABEL+=", $HIGH_RESOURCE_SIZE sentences of $HIGH"
  if [[ $LOW_RESOURCE_SIZE != 0 ]]; then
    line=$LABEL
    [[ $CLASS_BIAS == no ]] || line+=", class bias"
    [[ ${#UNLABELLED[@]} == 0 ]] || line+=", no labels of $LOW"
    ABOUT=(--curve "$line" "$LOW_RESOURCE_SIZE")
    LABEL+=", $LOW_RESOURCE_SIZE sentences"
  fi
  if [[ $CLASS_BIAS == yes ]]; then ABOUT+=(--class-bias) LABEL+=", class bias"; fi
}

# The labelled files of both languages. EARLIER becomes the stages that they wait for.
find_sources() {
  local option languages=''
  EARLIER=''
  if [[ -z $DATA ]]; then
    DATA=$OUT/raw
    [[ ${#LOW_SOURCES[@]} != 0 ]] || languages=$LOW
    [[ ${#HIGH_SOURCES[@]} != 0 || $HIGH == none ]] || languages+=" ${HIGH//+/ }"
    for LANGUAGE in $languages; do stage "fetched/$LANGUAGE" '' fetch_files; done
    [[ -z $languages ]] || EARLIER=$(printf 'fetched/%s ' $languages)
  fi
  [[ ${#LOW_SOURCES[@]} != 0 ]] || { sources "$LOW"; LOW_SOURCES=("${SOURCES[@]}"); }
  if [[ $HIGH != none && ${#HIGH_SOURCES[@]} == 0 ]]; then
    for LANGUAGE in ${HIGH//+/ }; do
      sources "$LANGUAGE"
      SOURCES=("${SOURCES[@]%,split=test}") # all of it is for training
      for option in "${LEXICONS[@]}"; do
        [[ ${option%%=*} != "$LANGUAGE" ]] || SOURCES=("${SOURCES[@]/%/,lexicon=$(absolute "${option#*=}")}")
      done
      HIGH_SOURCES+=("${SOURCES[@]}")
    done
  fi
}

# Section 3.3: no label of the low-resource language is learnt from.
label_by_a_teacher() {
  local split
  DATA_KEY+=.unlabelled DIRECTORY+=.unlabelled LABEL+=", no labels of $LOW"
  CLASS_SOURCES=("${LOW_SOURCES[@]}")
  stage teacher "$EARLIER" train_teacher "$HIGH" "$UPDATES" "$EVERY" "${PASSED[@]}" "${HIGH_SOURCES[@]}" "${CLASS_SOURCES[@]}" \
    "$(sources_fingerprint)" "${TUNING[@]}"
  stage unlabelled teacher label_unlabelled "$(fingerprint "${UNLABELLED[@]}")"
  EARLIER=unlabelled
  # What has labels is for the test alone.
  for split in train valid test; do LOW_SOURCES=("${LOW_SOURCES[@]/,split=$split/}"); done
  LOW_SOURCES=("$OUT/unlabelled/low.tsv" "${LOW_SOURCES[@]/%/,split=test}")
}

classification_recipe() {
  local after
  check_settings
  choose_options
  name_folders
  name_system
  begin_in "$OUT"
  activate
  find_sources
  [[ ${#UNLABELLED[@]} == 0 ]] || label_by_a_teacher
  locked "$OUT/lock" prepare_stages
  [[ $PREPARE_ONLY == no ]] || return 0
  if one_of "$SYSTEM" "$BASELINES"; then
    stage "$NAME/record" "data/$DATA_KEY" record_baseline "$SYSTEM" "$SEED" "$SPLIT" "${BASELINE_OPTIONS[@]}" \
      "$(fingerprint "${BASELINE_OPTIONS[@]}")"
  else
    after=data/$DATA_KEY
    if [[ $PRETRAIN != 0 ]]; then
      stage "$NAME/pretrain" "$after" pretrain_siamese "$SEED" "$PRETRAIN" "$EVERY" "${TRAIN[@]}" "${TUNING[@]}"
      after=$NAME/pretrain
    fi
    stage "$NAME/train" "$after" train_siamese "$SYSTEM" "$SEED" "$UPDATES" "$EVERY" "$MIXTURE" "${TRAIN[@]}" "${TUNING[@]}"
    stage "$NAME/record" "$NAME/train" record_siamese "$SPLIT" "${PREDICT[@]}" "${ABOUT[@]}"
  fi
  [[ $DRY_RUN == yes ]] || say "$RUN/record.json"
}

sources_fingerprint() {
  fingerprint_sources "${LOW_SOURCES[@]}" "${HIGH_SOURCES[@]}" "${CLASS_SOURCES[@]}"
}

prepare_stages() {
  stage "data/$DATA_KEY" "$EARLIER" prepare_files "$(sources_fingerprint)" "${LOW_SOURCES[@]}" "${HIGH_SOURCES[@]}" \
    "${CLASS_SOURCES[@]}" "${PREPARE[@]}" "${SELECTION[@]}" "$(fingerprint "${VECTORS[@]}")"
  stage "statistics/$DATA_KEY" "data/$DATA_KEY" show_statistics
}
