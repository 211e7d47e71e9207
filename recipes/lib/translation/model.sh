# shellcheck shell=bash
# What each loss trains with, and training it. Sourced by translation.sh.

is_transformer() { [[ $LOSS != stock* && $ARCH == *transformer* ]]; }

# SIZES for the body: SIZE everywhere, or nothing for 0, the architecture's own. An LSTM has it in each
# direction of the encoder, as the baseline does; a Transformer's inner layers are four times as wide.
body_sizes() {
  SIZES=()
  [[ $SIZE != 0 ]] || return 0
  if is_transformer; then
    local side
    for side in encoder decoder; do
      SIZES+=("--$side-embed-dim" "$SIZE" "--$side-ffn-embed-dim" "$((4 * SIZE))")
    done
  else
    SIZES+=(--encoder-embed-dim "$SIZE" --encoder-hidden-dim "$((2 * SIZE))" --decoder-hidden-dim "$SIZE")
  fi
}

# What a loss changes of the settings that all losses share: dropout, learning rate and batches, and its decoding.
loss_settings() {
  case $LOSS in
    # as the baseline was first measured
    stock) DROPOUT=0.2 LEARNING_RATE=1e-3 ANNEAL='' BATCH_TOKENS=3000 CLIP_NORM=0 ;;
    # fairseq's example for IWSLT'14
    stock_transformer) DROPOUT=0.3 LEARNING_RATE=5e-4 ANNEAL='' BATCH_TOKENS=4096 CLIP_NORM=0 ;;
    cross_entropy | cross_entropy_tied) ;;
    # A likelihood over words overfits as a softmax does, and its norm is the confidence that a beam needs.
    vmf_posterior | combined) DECODE_SCORE=vmf_posterior DECODE_SCALE='' CSLS_WEIGHT=0 ;;
    # It trains with the cosine times 20, where a correction of hubs costs BLEU.
    info_nce) DECODE_SCORE=cosine DECODE_SCALE=20 CSLS_WEIGHT=0 DROPOUT=${CONTINUOUS_DROPOUT:-$DROPOUT} ;;
    # Its norm is vMF's own confidence, which a beam can use.
    vmf) DECODE_SCORE=vmf_posterior DROPOUT=${CONTINUOUS_DROPOUT:-$DROPOUT} ;;
    *) DROPOUT=${CONTINUOUS_DROPOUT:-$DROPOUT} ;;
  esac
  # A Transformer's first updates must be small, whatever it predicts.
  if is_transformer; then LEARNING_RATE=5e-4 ANNEAL=''; fi
}

stock_lstm() {
  MODEL=(--arch lstm --criterion cross_entropy --encoder-bidirectional --share-decoder-input-output-embed)
  [[ $SIZE == 0 ]] || MODEL+=(
    --encoder-embed-dim "$SIZE" --encoder-hidden-size "$SIZE"
    --decoder-embed-dim "$SIZE" --decoder-hidden-size "$SIZE" --decoder-out-embed-dim "$SIZE"
  )
}

# fairseq's example for IWSLT'14; smaller ones in the same proportions, with fewer layers.
stock_transformer() {
  MODEL=(
    --arch transformer_iwslt_de_en --share-decoder-input-output-embed
    --criterion label_smoothed_cross_entropy --label-smoothing 0.1
    --adam-betas '(0.9, 0.98)' --weight-decay 1e-4 --lr-scheduler inverse_sqrt --warmup-updates 4000
  )
  [[ $SIZE == 0 ]] || MODEL+=(
    --encoder-layers 4 --encoder-embed-dim "$SIZE" --encoder-ffn-embed-dim "$((2 * SIZE))"
    --decoder-layers 4 --decoder-embed-dim "$SIZE" --decoder-ffn-embed-dim "$((2 * SIZE))"
  )
}

# The body that softmax and continuous outputs share.
own_body() {
  MODEL=(--arch "$ARCH" --target-vectors "$RUN/target.vec")
  [[ " $TRANSFORM " != *" --specials "* ]] || MODEL+=(--special-vectors file)
  body_sizes
  MODEL+=("${SIZES[@]}")
}

softmax_model() {
  own_body
  if [[ $SOFTMAX_NEGATIVES != 0 ]]; then
    MODEL+=(--criterion sampled_softmax --negatives "$SOFTMAX_NEGATIVES")
  elif [[ -n $LABEL_SMOOTHING ]]; then
    MODEL+=(--criterion label_smoothed_cross_entropy --label-smoothing "$LABEL_SMOOTHING")
  else
    MODEL+=(--criterion cross_entropy)
  fi
  case $LOSS in
    cross_entropy) MODEL+=(--decoder-output softmax) ;;
    cross_entropy_tied) MODEL+=(--decoder-output softmax_tied) ;;
  esac
}

continuous_model() {
  own_body
  MODEL+=(--criterion "$LOSS" --decoder-output continuous)
  case $LOSS in
    # The best checkpoint of these two is that of the best likelihood, as a softmax's is.
    vmf_posterior) [[ -z $LABEL_SMOOTHING ]] || MODEL+=(--label-smoothing "$LABEL_SMOOTHING") ;;
    combined)
      MODEL+=(--main-loss vmf_posterior --auxiliary-loss syn_margin_proj)
      if [[ -n $LABEL_SMOOTHING ]]; then
        [[ " ${TUNING[*]}" != *" --main-options "* || "${TUNING[*]}" == *label_smoothing=* ]] ||
          fail "--main-options goes before --label-smoothing: give label_smoothing=$LABEL_SMOOTHING there, too"
        MODEL+=(--main-options "label_smoothing=$LABEL_SMOOTHING")
      fi
      ;;
    *) MODEL+=(--best-checkpoint-metric accuracy --maximize-best-checkpoint-metric) ;;
  esac
  # The plugin's own default is for margin losses with fastText's vectors, so 0 has to be said.
  MODEL+=(--decode-score "$DECODE_SCORE" --decode-csls-weight "$CSLS_WEIGHT")
  [[ $WARM_START == no ]] || MODEL+=(--untie-decoder-input --finetune-from-model "$VECTORS")
  [[ -z $DECODE_SCALE ]] || MODEL+=(--decode-scale "$DECODE_SCALE")
}

optimiser_options() {
  # Adam's memory of a Transformer's first updates must be short; the learning rate falls with 1/√updates.
  if is_transformer; then
    MODEL+=(--adam-betas '(0.9,0.98)' --lr-scheduler inverse_sqrt --warmup-updates "$WARMUP")
  fi
  MODEL+=(
    --dropout "$DROPOUT" --optimizer adam --lr "$LEARNING_RATE" --max-tokens "$BATCH_TOKENS"
    --clip-norm "$CLIP_NORM"
  )
  # In the second half of the epochs the learning rate falls to ANNEAL of itself with each.
  [[ -z $ANNEAL ]] || MODEL+=(
    --lr-scheduler fixed --warmup-updates 200 --force-anneal "$(((EPOCHS + 1) / 2))" --lr-shrink "$ANNEAL"
  )
}

# MODEL, all that fairseq-train is told of a loss: its model, criterion and optimiser, and the user's own options last.
# `stock` and `stock_transformer` are fairseq's own models, the baselines; all others share a body.
model_options() {
  loss_settings
  case $LOSS in
    stock) stock_lstm ;;
    stock_transformer) stock_transformer ;;
    cross_entropy | cross_entropy_tied) softmax_model ;;
    *) continuous_model ;;
  esac
  optimiser_options
  MODEL+=("${TUNING[@]}")
}

# fairseq rounds batches to multiples of eight and drops what remains of the last one, in training too.
WHOLE=(--required-batch-size-multiple 1)

train_model() {
  local command=(
    fairseq-train "$TRAINING_DATA" --user-dir "$PLUGIN" --task translation
    --source-lang "$SRC" --target-lang "$TGT" "${MODEL[@]}"
    --max-epoch "$EPOCHS" --seed "$SEED" --save-dir "$RUN/checkpoints"
    --log-format json --log-interval 100 --num-workers 0 "${WHOLE[@]}"
  )
  [[ $DIAGNOSE == epochs ]] || command+=(--no-epoch-checkpoints)
  if [[ $DRY_RUN == yes ]]; then
    show "${command[@]}"
    return
  fi
  mkdir -p "$RUN"
  show "${command[@]}" >"$RUN/train.command"
  # They are of the model before, where training goes on.
  rm -f "$RUN"/*score.beam* "$RUN"/*words.beam* "$RUN"/tune.jsonl
  # Not --log-file: fairseq opens it anew each epoch and then writes every line several times.
  "${command[@]}" 2>&1 | tee -a "$RUN/train.log"
  [[ -s $RUN/checkpoints/checkpoint_best.pt ]] || fail "training left no checkpoint: see $RUN/train.log"
  makes "$RUN/checkpoints/checkpoint_best.pt"
}

# The targets of --target-epochs: the output vectors of a softmax of the same data, body and seed, trained so long. It is
# a run of its own, by the same recipe, so that it goes on where it was interrupted and its time is on record. With
# --prepare-only its data alone are prepared.
train_targets() {
  local words=() targets=$NAME.targets tuning=()
  # The learning rate falls when training goes on with the vectors, not before. A Transformer's has no such option.
  [[ $WARM_START == no ]] || is_transformer || tuning=(-- --force-anneal "$((TARGET_EPOCHS + 1))")
  set -- "${ARGUMENTS[@]}"
  while [[ $# -gt 0 && $1 != -- ]]; do
    if [[ $1 == --test && $TEST_AS_OWN == yes ]]; then # it belongs to the data, then
      words+=("$1" "$2") && shift 2
      continue
    fi
    case $1 in
      --loss | --epochs | --name | --search | --target-epochs | --target-loss | --diagnose-words | --replace-unk | --test | \
        --read-unknown | --source-mono | --transform | --diagnose) shift 2 ;;
      --warm-start) shift ;;
      *) words+=("$1") && shift ;;
    esac
  done
  TARGETS_RUN=$OUT/runs/$targets
  VECTORS=$TARGETS_RUN/checkpoints/checkpoint_best.pt
  say "== softmax of $TARGET_EPOCHS epochs, whose output vectors become the targets: $targets"
  bash "$RECIPE" "${words[@]}" --loss "${TARGET_LOSS:-cross_entropy}" --epochs "$TARGET_EPOCHS" --name "$targets" --train-only "${tuning[@]}"
}

fingerprint_code() { # FOLDER
  find -L "$1" -name '*.py' -type f -print0 | LC_ALL=C sort -z | xargs -0r cat | sha256sum | cut -c1-16
}

# A checkpoint goes on only under the settings it began with; more epochs are no other setting.
claim_run() {
  if [[ $DRY_RUN == yes ]]; then
    [[ -z $TARGET_VECTORS ]] || show ln "$TARGET_VECTORS" "$RUN/target.vec"
    return
  fi
  local settings
  # Without the folder, for OUT may be moved.
  settings=$(printf '%s\n' "${MODEL[@]//"$OUT/"/}" "seed $SEED" "vectors $(fingerprint "$TARGET_VECTORS")" \
    "data $(fingerprint "$STAMPS/$DATA_STAGE")")
  # A plugin's own code decides what its loss is.
  [[ -z $USER_DIR ]] || settings+=$'\n'"plugin $(fingerprint_code "$USER_DIR")"
  mkdir -p "$RUN"
  # What failed before it had a checkpoint was not begun: a mistyped option is mended where it stands.
  local begun=no
  if [[ -f $RUN/settings ]] && compgen -G "$RUN/checkpoints/*.pt" >/dev/null; then begun=yes; fi
  if [[ $begun == yes ]]; then
    local before
    before=$(<"$RUN/settings")
    # One that was written with the folder stays as it is.
    if [[ ${before//"$OUT/"/} == "$settings" ]]; then
      need_epochs "$EPOCHS" "$RUN" "another --name"
      return
    fi
    diff "$RUN/settings" - <<<"$settings" >&2 || true
    fail "$RUN was begun with other settings (above): give another --name, or remove that folder"
  fi
  # The table as it is now: the prepared one is replaced, never rewritten, when its settings change.
  if [[ -n $TARGET_VECTORS ]]; then
    rm -f "$RUN/target.vec"
    ln "$TARGET_VECTORS" "$RUN/target.vec" 2>/dev/null || cp "$TARGET_VECTORS" "$RUN/target.vec"
  fi
  printf '%s\n' "$settings" >"$RUN/settings"
}
