# shellcheck shell=bash
# What syntactic.sh trains and evaluates.

# Table 1 of the paper: Adam at a constant rate, batches of 32 sentences.
TRAINING=(
  --user-dir "$PLUGIN" --task upos_translation --arch upos_lstm --criterion upos_cross_entropy
  --optimizer adam --lr 1e-4 --batch-size 32 --log-format json --log-interval 100 --no-epoch-checkpoints
)

# What --preset best adds. Of an option given twice, the last counts.
BEST=(
  --optimizer fused_adam --lr 1e-3 --lr-scheduler polynomial_decay --batch-size 64
  --tag-contrast 1 --batches-of-one-pair
)

train() { # NAME DATA OPTION…
  claim_checkpoints "$OUT/runs/$1"
  run mkdir -p "$OUT/runs/$1"
  logged_training "$OUT/logs/train.$1.log" "$OUT/runs/$1" fairseq-train "$2" "${TRAINING[@]}" --save-dir "$OUT/runs/$1" --seed "$TRAINING_SEED" \
    "${@:3}" "${TUNING[@]}"
}

train_all() { # NAME OPTION…
  local pieces=()
  [[ $PIECE_VECTORS == no ]] || pieces=(--encoder-embed-path "$OUT/pieces.bin")
  train "$1" "$OUT/preprocessed" --max-update "$UPDATES" --save-interval-updates 5000 --keep-interval-updates 1 \
    --sampling-temperature "$TEMPERATURE" ${OWN_SHARE:+--own-share "$OWN_SHARE"} "${pieces[@]}" "${@:2}"
}

# The same encoder and sentences, without a tag, and so without what --tag-contrast would compare.
train_pieces() (
  TUNING+=(--tag-contrast 0)
  train_all pieces --target pieces --decoder-output-dim 100
)

# What follows is done for each seed; OF is empty, or the end of names of another than the first.
train_tags() {
  train_all "tags$OF" --best-checkpoint-metric mean_accuracy --maximize-best-checkpoint-metric
}

few_pairs() { # LANGUAGE -> names of fine-tunings
  echo "$1-en" "$1-en,$1-$SECOND"
}
# Few pairs make many epochs. So validation is at a quarter of the updates, and no worker is started for each epoch. The
# learning rate falls as over a whole training, so by the share of its updates that these are. The records were made so.
train_few() {
  local quarter=$((FEW_UPDATES < 4 ? 1 : FEW_UPDATES / 4))
  train "few.$L.$PAIRS.$NUMBER$OF" "$OUT/few" --finetune-from-model "$OUT/runs/tags$OF/checkpoint_best.pt" \
    --pairs "$PAIRS" --sentences-per-pair "$NUMBER" --max-update "$FEW_UPDATES" --validate-interval 1000000 \
    --save-interval 1000000 --save-interval-updates "$quarter" --keep-interval-updates 1 --num-workers 0
}

# All updates count: the loss on validation sentences is lowest long before nearest neighbours are best.
adapt() (
  [[ $PRESET == paper ]] || TUNING+=(--total-num-update "$ADAPT_UPDATES")
  train "adapted.$L$OF" "$OUT/preprocessed" --finetune-from-model "$OUT/runs/tags$OF/checkpoint_best.pt" \
    --pairs "$L-$L" --max-update "$ADAPT_UPDATES" --disable-validation --save-interval-updates 500 \
    --keep-interval-updates 1 --num-workers 0
)

untrained() { run fairseq-xl embed random "$OUT/runs/tags/checkpoint_best.pt" --output "$OUT/runs/random" --seed "$SEED"; }

evaluate() { # NAME ENCODER…
  run fairseq-xl embed evaluate "${@:2}" --output "$OUT/evaluation/$1$OF" "${SETS[@]}"
}

# Every language with a parallel treebank: VALUES of --treebanks.
gold() {
  local language file
  for language in $LANGUAGES $UNSEEN $GOLD_ONLY; do
    file=$(parallel_file "$language")
    [[ -z $file ]] || echo "$language=$file"
  done
}

# The first seed's stands beside baselines that need no download.
evaluate_encoder() { # NAME
  local baselines=()
  if [[ -z $OF ]]; then
    [[ $TRANSLATING == no ]] || baselines=("translating=$OUT/runs/pieces/checkpoint_best.pt")
    # shellcheck disable=SC2206
    baselines+=($BESIDE "random=$OUT/runs/random" "words=vectors:$OUT/words/{lang}.vec" length tags characters)
  fi
  evaluate "$1" "ours=$OUT/runs/tags$OF/checkpoint_best.pt" "${baselines[@]}"
}

evaluate_all() {
  local treebanks accuracy=() language
  mapfile -t treebanks < <(gold)
  for language in $LANGUAGES $UNSEEN; do
    [[ -z $(parallel_file "$language") ]] || accuracy+=("$language=$OUT/taggers/$language")
  done
  SETS=(--sets "$OUT/eval" --treebanks "${treebanks[@]}" --taggers "${accuracy[@]}")
  evaluate_encoder all
}

# By gold tags, with each language's vectors centred and whitened beside.
evaluate_gold() {
  SETS=(--sets "$OUT/gold" --measures nearest --transform center whiten)
  evaluate_encoder gold
}

# Settings are chosen by these groups, which no table reports.
evaluate_dev() {
  SETS=(--sets "$OUT/eval/dev" --measures nearest --transform center whiten)
  evaluate_encoder dev
}

evaluate_few() {
  local encoders=() pairs number
  for pairs in $(few_pairs "$L"); do
    for number in $FEW; do
      encoders+=("$pairs-$number=$OUT/runs/few.$L.$pairs.$number$OF/checkpoint_best.pt")
    done
  done
  SETS=(--sets "$OUT/eval/$L.tsv")
  evaluate "few.$L" "unseen=$OUT/runs/tags$OF/checkpoint_best.pt" "${encoders[@]}"
}

evaluate_adapted() {
  local adapted="$L-$L=$OUT/runs/adapted.$L$OF/checkpoint_last.pt"
  SETS=(--sets "$OUT/eval" --measures nearest)
  evaluate "adapted.$L" "$adapted"
  SETS=(--sets "$OUT/gold" --measures nearest)
  evaluate "adapted.$L.gold" "$adapted"
}

# Seeds of an encoder are one row.
tables() {
  local of='' seed records=() gold=()
  for seed in $SEED $MORE_SEEDS; do
    if [[ $seed != "$SEED" ]]; then of=.seed$seed; fi
    records+=("$OUT/evaluation/all$of.json")
    gold+=("$OUT/evaluation/gold$of.json")
    for L in $ADAPT; do
      records+=("$OUT/evaluation/adapted.$L$of.json")
      gold+=("$OUT/evaluation/adapted.$L.gold$of.json")
    done
    for L in $UNSEEN; do records+=("$OUT/evaluation/few.$L$of.json"); done
  done
  run fairseq-xl embed tables "${records[@]}" --output "$OUT/tables.md"
  run fairseq-xl embed tables "${gold[@]}" --output "$OUT/tables.gold.md"
}

draw_map() {
  run fairseq-xl embed map "ours=$OUT/runs/tags/checkpoint_best.pt" --sets "$OUT/eval" --output "$OUT/map"
}

pack_encoder() {
  local card=()
  [[ -z $LICENCE ]] || card=(--licence "$LICENCE" --dataset Tatoeba 'Universal Dependencies' --record "$OUT/evaluation/all.json")
  run fairseq-xl embed pack "$OUT/runs/tags/checkpoint_best.pt" --output "$OUT/model" "${card[@]}"
  makes "$OUT/model"
}
