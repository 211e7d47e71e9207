# shellcheck shell=bash
# The stages of a classification experiment, shared by sentiment.sh and emoji.sh: from labelled text to a trained twin
# or a baseline, its predictions and a record of them.
#
# A recipe sets its defaults after `defaults`, reads its command line with `read_options`, offers `recipe_option` for
# options of its own (PASSED holds those that a teacher gets as well), `check_recipe` for what only it must check,
# `fetch_files`, which downloads the text of LANGUAGE into DATA, and `sources LANGUAGE`, which fills SOURCES with that
# language's sources of `fairseq-xl classify prepare`, and calls `classification_recipe`.

# Every twin is trained with these.
TRAIN=(--task siamese_contrastive --arch ssc_bilstm --criterion contrastive --optimizer adam --clip-norm 5
  --best-checkpoint-metric macro_f1 --maximize-best-checkpoint-metric --no-epoch-checkpoints --num-workers 0
  --required-batch-size-multiple 1 --log-format json --log-interval 50)

# The paper's configuration: trigrams, the last states, equation 1, the drawn pairs alone, most matches of 100
# references. It does not say the sizes of embeddings and states, the margin, the optimiser or the batch.
PAPER_PREPARE=(--ngrams 3)
PAPER_TRAIN=(--lr 0.001 --batch-size 64 --margin 0.5 --embed-dim 100 --hidden-dim 256 --pooling last
  --dense-order dense_relu --rule matches --match-threshold 0.5)
PAPER_PREDICT=(--rule matches --threshold 0.5 --references 100 --draws 5)

# Ours: pairs of the poor language among the others, every pair of a batch, a joint classification loss (while classes
# are mixed, pull and push of pairs cancel), pooling over all places, shorter n-grams beside the trigrams, of which new
# text has fewer that are unseen, and references of the poor language: by English ones Spanish came to a macro-F1 of 44
# on validation instead of 54. With a dropout of 0.5 Spanish came to 45, German to 64 instead of 65.
BEST_PREPARE=(--ngrams 3 2 1 --lower --minimum 2)
BEST_TRAIN=(--lr 0.002 --batch-size 32 --margin 0 --all-pairs --class-head --class-weight 1 --embed-dim 64
  --hidden-dim 128 --pooling max --dense-order dense_relu --dropout 0.3 --unit-dropout 0.1 --rule centroid
  --reference-side poor)
BEST_PREDICT=(--rule centroid --reference-side poor --references 100 --draws 5)

BASELINES="asv mv-rnn dsc-t mnb-h bilstm-w bilstm-c svm fasttext st"
TWINS="twin twin-mono twin-control paper paper-mono paper-control"

# Settings that both recipes offer under the same names.
defaults() {
  POOR='' RICH='' SYSTEM=twin SEED=1 UPDATES=2000 EVERY=100 OUT='' DATA='' NAME='' PART=test POOR_SIZE=0 RICH_SIZE=0
  POOR_SOURCES=() RICH_SOURCES=() PREPARE_ONLY=no TUNING=() SELECTION=() BASELINE_OPTIONS=() SOURCES=() ABOUT=() UNLABELLED=()
  SELECTION_NAME='' PASSED=() CLASS_SOURCES=()
}

common_option() { # OPTION [VALUE] …; sets TAKEN to the number of words used, 0 for an option that is none of these
  TAKEN=1
  case $1 in
    --dry-run) DRY_RUN=yes; return ;;
    --prepare-only) PREPARE_ONLY=yes; return ;;
    --poor | --rich | --system | --loss | --seed | --updates | --every | --out | --data | --name | --part | \
      --poor-size | --rich-size | --poor-source | --rich-source | --class-source | --more-text | --model | --parses) ;;
    --unlabelled)
      need_value "$@"
      need_value "$1" "${3:-}"
      UNLABELLED=("$(absolute "$2")" "$(absolute "$3")") TAKEN=3
      return
      ;;
    *) TAKEN=0; return ;;
  esac
  TAKEN=2
  need_value "$@"
  case $1 in
    --poor) POOR=$2 ;;
    --rich) RICH=$2 ;;
    --system | --loss) SYSTEM=$2 ;; # `fairseq-xl experiment` calls what it compares a loss
    --seed) SEED=$2 ;;
    --updates) UPDATES=$2 ;;
    --every) EVERY=$2 ;;
    --out) OUT=$(absolute "$2") ;;
    --data) DATA=$(absolute "$2") ;;
    --name) NAME=$2 ;;
    --part) PART=$2 ;;
    --poor-size) POOR_SIZE=$2 ;;
    --rich-size) RICH_SIZE=$2 ;;
    --poor-source) POOR_SOURCES+=("$2") ;;
    --rich-source) RICH_SOURCES+=("$2") ;;
    --class-source) CLASS_SOURCES+=("$2") ;; # of a teacher: what it labels is to have the classes of these
    --more-text | --parses) BASELINE_OPTIONS+=("$1" "$(absolute "$2")") ;;
    --model) BASELINE_OPTIONS+=("$1" "$2") ;;
  esac
}

check_settings() {
  local option
  one_of "$SYSTEM" "$TWINS $BASELINES" || fail "--system is '$SYSTEM': choose one of" $TWINS $BASELINES
  for option in SEED UPDATES EVERY POOR_SIZE RICH_SIZE; do
    need_number "--$(tr 'A-Z_' 'a-z-' <<<"$option")" "${!option}"
  done
  [[ $PART =~ ^(valid|test)$ ]] || fail "--part is '$PART': choose valid or test"
  [[ -n $OUT ]] || fail "--out is missing: name the folder for data, checkpoints and records"
  [[ -n $POOR ]] || fail "--poor is missing: name the language to classify"
  [[ -z $DATA || -d $DATA ]] || fail "--data $DATA is no folder: check the name"
  [[ $RICH != "$POOR" ]] || RICH=none
  check_recipe
  if [[ ${#UNLABELLED[@]} != 0 ]]; then
    for option in "${UNLABELLED[@]}"; do need_file "$option" "text for --unlabelled,"; done
    [[ $RICH != none ]] || fail "--unlabelled needs a rich language: its labels are all there are"
  fi
}

# Everything that a twin or a baseline learns from. All systems of one language share the split.
prepare_files() {
  local words=("$PREPARED" --poor "${POOR_SOURCES[@]}" --languages "$POOR")
  [[ $RICH == none ]] || words+=("$RICH" --rich "${RICH_SOURCES[@]}")
  [[ $POOR_SIZE == 0 ]] || words+=(--poor-size "$POOR_SIZE")
  [[ $RICH_SIZE == 0 ]] || words+=(--rich-size "$RICH_SIZE")
  [[ $SYSTEM != *-control ]] || words+=(--shuffle-rich)
  [[ ${#CLASS_SOURCES[@]} == 0 ]] || words+=(--class-source "${CLASS_SOURCES[@]}")
  run fairseq-xl classify prepare "${words[@]}" "${PREPARE[@]}" "${SELECTION[@]}"
}

show_statistics() {
  logged "$PREPARED/statistics.md" fairseq-xl classify statistics "$PREPARED"
  [[ $DRY_RUN == yes ]] || cat "$PREPARED/statistics.md" >&2
}

train_twin() {
  local pairs=()
  claim_checkpoints "$RUN/checkpoints"
  case $SYSTEM in
    *-mono) pairs=(--pairs poor-poor) ;;
    twin*) [[ $RICH == none ]] || pairs=(--pairs "$MIXTURE") ;;
  esac
  logged "$RUN/train.log" fairseq-train "$PREPARED" --user-dir "$PLUGIN" "${TRAIN[@]}" "${pairs[@]}" --seed "$SEED" \
    --max-update "$UPDATES" --validate-interval-updates "$EVERY" --save-interval-updates "$EVERY" \
    --keep-interval-updates 1 --save-dir "$RUN/checkpoints" "${TUNING[@]}"
}

record_twin() {
  run fairseq-xl classify predict "$RUN/checkpoints/checkpoint_best.pt" --part "$PART" --name "$LABEL" \
    --output "$RUN/record.json" "${PREDICT[@]}" "${ABOUT[@]}"
}

# Section 3.3: a classifier of the rich language alone, and what it says of the unlabelled pairs' rich side.
train_teacher() {
  local source sources=()
  for source in "${RICH_SOURCES[@]}"; do sources+=(--poor-source "$source"); done
  for source in "${CLASS_SOURCES[@]}"; do sources+=(--class-source "$source"); done
  run bash "$RECIPE" --out "$OUT/teacher" --poor "$RICH" --rich none --name teacher --updates "$UPDATES" \
    --every "$EVERY" "${PASSED[@]}" "${sources[@]}" -- "${TUNING[@]}"
}

# The teacher's rule is that of its own training, whatever the twin's.
label_unlabelled() {
  run fairseq-xl classify label "$OUT/teacher/runs/teacher/checkpoints/checkpoint_best.pt" "${UNLABELLED[@]}" \
    --output "$OUT/unlabelled/rich.tsv" "$OUT/unlabelled/poor.tsv"
}

record_baseline() {
  run fairseq-xl classify baseline "$SYSTEM" "$PREPARED" --part "$PART" --seed "$SEED" --output "$RUN/record.json" \
    "${BASELINE_OPTIONS[@]}"
}

classification_recipe() {
  local key part size='' after=''
  check_settings
  MIXTURE=poor-rich+poor-poor
  if [[ $SYSTEM == paper* ]]; then
    PRESET=paper PREPARE=("${PAPER_PREPARE[@]}") TRAIN+=("${PAPER_TRAIN[@]}") PREDICT=("${PAPER_PREDICT[@]}")
  else
    PRESET=best PREPARE=("${BEST_PREPARE[@]}") TRAIN+=("${BEST_TRAIN[@]}") PREDICT=("${BEST_PREDICT[@]}")
  fi
  key=$POOR-$RICH.$PRESET$SELECTION_NAME
  [[ $POOR_SIZE == 0 ]] || size+=.$POOR_SIZE
  [[ $RICH_SIZE == 0 ]] || size+=.rich$RICH_SIZE
  key+=$size
  [[ $SYSTEM != *-control ]] || key+=.shuffled
  [[ ${#UNLABELLED[@]} == 0 ]] || size+=.unlabelled
  NAME=${NAME:-$POOR-$RICH.$SYSTEM$SELECTION_NAME$size.seed$SEED}
  PREPARED=$OUT/prepared/$key RUN=$OUT/runs/$NAME STAMPS=$OUT/stamps
  LABEL="SSC($POOR-$RICH)"
  [[ $SYSTEM != *-mono && $RICH != none ]] || LABEL="SSC($POOR-$POOR)"
  [[ $SYSTEM != paper* ]] || LABEL+=", the paper's"
  [[ $SYSTEM != *-control ]] || LABEL+=", labels shuffled"
  [[ $RICH_SIZE == 0 || $RICH == none ]] || LABEL+=", $RICH_SIZE sentences of $RICH"
  if [[ $POOR_SIZE != 0 ]]; then
    ABOUT=(--curve "$LABEL" "$POOR_SIZE")
    LABEL+=", $POOR_SIZE sentences"
  fi
  activate
  if [[ -z $DATA ]]; then
    DATA=$OUT/raw
    [[ ${#POOR_SOURCES[@]} != 0 ]] || after=$POOR
    [[ ${#RICH_SOURCES[@]} != 0 || $RICH == none ]] || after+=" $RICH"
    for LANGUAGE in $after; do stage "fetched/$LANGUAGE" '' fetch_files; done
    [[ -z $after ]] || after=$(printf 'fetched/%s ' $after)
  fi
  [[ ${#POOR_SOURCES[@]} != 0 ]] || { sources "$POOR"; POOR_SOURCES=("${SOURCES[@]}"); }
  if [[ $RICH != none && ${#RICH_SOURCES[@]} == 0 ]]; then
    sources "$RICH"
    RICH_SOURCES=("${SOURCES[@]%,part=test}") # all of it is for training
  fi
  if [[ ${#UNLABELLED[@]} != 0 ]]; then
    key+=.unlabelled PREPARED+=.unlabelled LABEL+=", no labels of $POOR"
    CLASS_SOURCES=("${POOR_SOURCES[@]}")
    stage teacher "$after" train_teacher "$RICH" "$UPDATES" "${PASSED[@]}" "${RICH_SOURCES[@]}" "${CLASS_SOURCES[@]}" \
      "$(sources_fingerprint)" "${TUNING[@]}"
    stage unlabelled teacher label_unlabelled "$(fingerprint "${UNLABELLED[@]}")"
    after=unlabelled
    # What has labels is for the test alone.
    for part in train valid test; do POOR_SOURCES=("${POOR_SOURCES[@]/,part=$part/}"); done
    POOR_SOURCES=("$OUT/unlabelled/poor.tsv" "${POOR_SOURCES[@]/%/,part=test}")
  fi
  locked "$OUT/lock" prepare_stages "$after"
  [[ $PREPARE_ONLY == no ]] || return 0
  if one_of "$SYSTEM" "$BASELINES"; then
    stage "$NAME/record" "prepared/$key" record_baseline "$SYSTEM" "$SEED" "$PART" "${BASELINE_OPTIONS[@]}"
  else
    stage "$NAME/train" "prepared/$key" train_twin "$SYSTEM" "$SEED" "$UPDATES" "$EVERY" "$MIXTURE" \
      "${TRAIN[@]}" "${TUNING[@]}"
    stage "$NAME/record" "$NAME/train" record_twin "$PART" "${PREDICT[@]}" "${ABOUT[@]}"
  fi
  [[ $DRY_RUN == yes ]] || say "$RUN/record.json"
}

sources_fingerprint() {
  local files=() source
  for source in "${POOR_SOURCES[@]}" "${RICH_SOURCES[@]}" "${CLASS_SOURCES[@]}"; do files+=("${source%%,*}"); done
  fingerprint "${files[@]}"
}

prepare_stages() { # EARLIER STAGES
  stage "prepared/$key" "$1" prepare_files "$(sources_fingerprint)" "${POOR_SOURCES[@]}" "${RICH_SOURCES[@]}" \
    "${CLASS_SOURCES[@]}" "${PREPARE[@]}" "${SELECTION[@]}"
  stage "statistics/$key" "prepared/$key" show_statistics
}
