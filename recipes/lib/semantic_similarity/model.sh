# shellcheck shell=bash
# What semantic_similarity.sh trains, and the tables of it.

train() { # OPTION…
  claim_checkpoints "$RUN/checkpoints"
  logged_training "$RUN/train.log" "$RUN/checkpoints" fairseq-train --user-dir "$PLUGIN" "${TRAIN[@]}" --arch "$SYSTEM" \
    --save-dir "$RUN/checkpoints" "$@" "${TUNING[@]}"
}

train_fold() {
  local choose=()
  [[ $CHOOSE_ON == same ]] || choose=(--valid-fold "$(((FOLD + 1) % FOLD_COUNT))")
  train "$OUT/prepared/$SET" --max-epoch "$SET_EPOCHS" --fold "$FOLD" "${choose[@]}" --seed "$SEED"
  makes "$RUN/checkpoints/checkpoint_best.pt"
}

record_fold() {
  local best=$RUN/checkpoints/checkpoint_best.pt other
  run fairseq-xl match predict "$best" --split fold --name "$SET" --output "$RUN/fold.json"
  makes "$RUN/fold.json"
  for other in "${CORPORA[@]}"; do
    run fairseq-xl match predict "$best" --data "$OUT/prepared/$other" --split test --name "$SET" --output "$RUN/$other.json"
    makes "$RUN/$other.json"
  done
}

# How a model of the corpora, which has seen none, judges them.
judge_paraphrases() {
  run fairseq-xl match predict "$RUN/checkpoints/checkpoint_best.pt" --data "$OUT/prepared/paraphrases" --split train \
    --name "$SET" --output "$RUN/paraphrases.json"
  makes "$RUN/paraphrases.json"
}

# What the pairs of SET give away without a language, on the parts that its models are tested on.
judge_shallow() {
  local fold folds=$FOLDS records=()
  run mkdir -p "$OUT/shallow"
  [[ $SET != paraphrases ]] || folds=$PARAPHRASE_FOLDS
  if [[ $SET == paraphrases && -n $PARAPHRASE_TEST ]]; then
    judge_shallow_part test --split test
  else
    for fold in $folds; do judge_shallow_part "fold$fold" --fold "$fold"; done
  fi
  run fairseq-xl match folds "${records[@]}" --output "$OUT/tables/shallow.$SET.md"
  makes "${records[@]}" "$OUT/tables/shallow.$SET.md"
}

judge_shallow_part() { # PART OPTION…; adds to `records`
  records+=("$OUT/shallow/$SET.$1.json")
  run fairseq-xl match baseline shallow "$OUT/prepared/$SET" "${@:2}" --name shallow --output "${records[-1]}"
}

tabulate_one() { # WHAT, of which each run has a record
  local set fold folds=() records=()
  for set in "${SETS[@]}"; do
    for fold in $FOLDS; do
      folds+=("$(run_of "$set" "$fold")/fold.json")
      records+=("$(run_of "$set" "$fold")/$1.json")
    done
  done
  run fairseq-xl match folds "${folds[@]}" --test "${records[@]}" --output "$OUT/tables/$MODEL.seed$SEED.test-$1.md"
  makes "$OUT/tables/$MODEL.seed$SEED.test-$1.md"
}

tabulate() {
  local other
  for other in "${CORPORA[@]}"; do tabulate_one "$other"; done
}

tabulate_judged() { tabulate_one paraphrases; }

choose_start() {
  local fold folds=()
  for fold in $FOLDS; do folds+=("$(run_of "$START" "$fold")/fold.json"); done
  logged "$OUT/runs/best.$START.$MODEL.seed$SEED" fairseq-xl match best "${folds[@]}"
  makes "$OUT/runs/best.$START.$MODEL.seed$SEED"
}

# Five trainings on paraphrases, one a fold or, with a test part, a seed. BEST is a file that ends with the record of the
# model to begin with, or nothing.
try_paraphrases() { # NAME RUNS DATA BEST "EARLIER STAGES"
  local NAME=$1 DATA=$3 BEST=$4 record
  for FOLD in $PARAPHRASE_FOLDS; do
    RUN=$OUT/$2.fold$FOLD record=fold
    [[ -z $PARAPHRASE_TEST ]] || RUN=$OUT/$2.seed$((FOLD + 1)) record=test
    stage "${RUN#"$OUT/"}" "prepared/$DATA${5:+ $5}" train_paraphrases "$PARAPHRASE_EPOCHS" "${TRAIN[@]}" "${TUNING[@]}"
    DONE+=("${RUN#"$OUT/"}") TRIED+=("$RUN/$record.json")
  done
}

# Nothing is chosen on the pairs that are held out: the last checkpoint is the one that is tested.
train_paraphrases() {
  local from=() best part=(--fold "$FOLD") split=fold
  if [[ -n $BEST ]]; then
    best=$([[ $DRY_RUN == yes ]] || tail -n 1 "$BEST")
    from=(--finetune-from-model "$(dirname "${best:-RUN/fold.json}")/checkpoints/checkpoint_best.pt")
  fi
  [[ -z $PARAPHRASE_TEST ]] || part=(--disable-validation) split=test
  train "$OUT/prepared/$DATA" --max-epoch "$PARAPHRASE_EPOCHS" "${part[@]}" --seed "$((FOLD + 1))" "${from[@]}"
  run fairseq-xl match predict "$RUN/checkpoints/checkpoint_last.pt" --split "$split" --name "$NAME" \
    --output "$RUN/$split.json"
  makes "$RUN/checkpoints/checkpoint_last.pt" "$RUN/$split.json"
}

tabulate_paraphrases() {
  run fairseq-xl match folds "${TRIED[@]}" --against scratch --output "$OUT/tables/$MODEL.seed$SEED.paraphrases.md"
  makes "$OUT/tables/$MODEL.seed$SEED.paraphrases.md"
}

# In the languages of the set. The words of these files are not in the folders: their vectors come from the table.
rank_graded() {
  local word language fold sources=() checkpoints=() across=()
  for word in "${GRADED[@]}"; do
    language=${word%%=*}
    [[ " $FIRST $(language_of "$SET") " == *" $language "* || $SET == joint ]] || continue
    sources+=("${word#*=},languages=$language+$language")
  done
  ((${#sources[@]} > 0)) || return 0
  ((${#sources[@]} == 1)) || across=(--across)
  for fold in $FOLDS; do checkpoints+=("$(run_of "$SET" "$fold")/checkpoints/checkpoint_best.pt"); done
  run fairseq-xl match similarity "${checkpoints[@]}" --input "${sources[@]}" "${across[@]}" --name "$SET" \
    --vectors "$OUT/vectors/joined.vec" --output "$OUT/tables/$MODEL.seed$SEED.sts.$SET.md"
  makes "$OUT/tables/$MODEL.seed$SEED.sts.$SET.md"
}

run_of() { printf '%s/runs/%s.%s.seed%s.fold%s' "$OUT" "$1" "$MODEL" "$SEED" "$2"; } # SET FOLD
