#!/usr/bin/env bash
# The main job on a small generated corpus, from a fresh clone to scores, in a few minutes on two cores.
#
#   bash recipes/quickstart.sh
#
# installs what is needed into .venv, generates sentence pairs of an invented language (qel) and English
# (`fairseq_xl/text/synthetic/generator.py` describes its grammar), trains fastText vectors on the English side, and
# with them trains the model continuous_lstm twice, by the losses syn_margin_proj and vmf. For each it
# prints sacreBLEU on the test set, then translations beside references, each predicted word's nearest
# neighbours for one sentence, and where the plot of the training curves is. A packed model then translates raw text,
# from the command line and from Python, and a small sentence encoder, trained on the same sentences and their parts
# of speech, finds sentences that are built alike. It exits with status 1 when either loss stays below 60 BLEU: then
# something is wrong with the installation or the code.
#
# A stage that is done is not done again, and a training that was interrupted goes on.
#
# options:
#   --out DIR      folder for everything it makes (default: runs/quickstart)
#   --seed N       seed of the corpus, the vectors and the trainings (default: 1)
#   --epochs N     epochs of each training (default: 7)
#   --train N      training sentences (default: 4000)
#   --no-install   use the environment that is active instead of installing into .venv
set -euo pipefail
# shellcheck source=recipes/lib/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

OUT=$ROOT/runs/quickstart SEED=1 EPOCHS=7 TRAIN=4000 INSTALL=yes
LOSSES="syn_margin_proj vmf"
LEAST_BLEU=60

while [[ $# -gt 0 ]]; do
  case $1 in
    -h | --help)
      usage "${BASH_SOURCE[0]}"
      exit 0
      ;;
    --no-install)
      INSTALL=no
      shift
      continue
      ;;
    --out | --seed | --epochs | --train) need_value "$@" ;;
    *) fail "quickstart.sh has no option '$1': see --help" ;;
  esac
  case $1 in
    --out) OUT=$(absolute "$2") ;;
    --seed) SEED=$2 ;;
    --epochs) EPOCHS=$2 ;;
    --train) TRAIN=$2 ;;
  esac
  shift 2
done
need_folder_name --out "$OUT"
need_seed --seed "$SEED"
need_count --epochs "$EPOCHS"
need_count --train "$TRAIN"

generate_corpus() {
  fairseq-xl data synthetic --output "$OUT/text" --seed "$SEED" --train "$TRAIN" --monolingual 30000 --tags \
    >"$OUT/corpus.log"
  makes "$OUT"/text/{train,valid,test}.{qel,en} "$OUT/text/en.conllu"
}

# One thread: with it the same seed gives the same vectors. The corpus has few words, so few subwords.
train_vectors() {
  fairseq-xl vectors train "$OUT/text/train.en" "$OUT/text/mono.en" --output "$OUT/vectors/en" \
    --dim 100 --epoch 15 --lr 0.2 --min-count 1 --buckets 20000 --seed "$SEED" --threads 1 --quiet
  makes "$OUT/vectors/en.vec"
}

preprocess() {
  # fairseq-preprocess refuses dictionaries that are there already: a fresh folder, moved when complete
  rm -rf "$OUT/bin.tmp"
  logged "$OUT/preprocess.log" fairseq-preprocess --source-lang qel --target-lang en \
    --trainpref "$OUT/text/train" --validpref "$OUT/text/valid" --testpref "$OUT/text/test" \
    --destdir "$OUT/bin.tmp"
  rm -rf "${OUT:?}/bin"
  mv "$OUT/bin.tmp" "$OUT/bin"
  makes "$OUT/bin"
}

train_model() {
  local command=(
    fairseq-train "$OUT/bin" --user-dir "$PLUGIN" --arch continuous_lstm --criterion "$LOSS"
    --target-vectors "$OUT/vectors/en.vec"
    --encoder-embed-dim 128 --encoder-hidden-dim 192 --decoder-hidden-dim 192 --dropout 0.1
    --optimizer adam --lr 0.004 --lr-scheduler inverse_sqrt --warmup-updates 100 --clip-norm 1
    --batch-size 48 --seed "$SEED"
    --best-checkpoint-metric accuracy --maximize-best-checkpoint-metric
    --save-dir "$OUT/$LOSS/checkpoints" --no-epoch-checkpoints
    --log-format json --log-interval 25
  )
  local settings
  settings=$(printf '%s\n' "${command[@]}" "$(fingerprint "$OUT/vectors/en.vec" "$STAMPS/preprocess")")
  # A checkpoint that was begun with other settings or data is no beginning for this training.
  STAGE_SETTINGS=$settings claim_checkpoints "$OUT/$LOSS"
  mkdir -p "$OUT/$LOSS"
  need_epochs "$EPOCHS" "$OUT/$LOSS" "another --out"
  # More epochs are no other setting: the training goes on.
  command+=(--max-epoch "$EPOCHS")
  show "${command[@]}" | tee "$OUT/$LOSS/train.command" >&2
  local status=0
  "${command[@]}" 2>&1 | tee -a "$OUT/$LOSS/train.log" | awk '
    function value(name) {
      return match($0, "\"" name "\": \"?[^\",}]*") ? substr($0, RSTART, RLENGTH) : ""
    }
    /"valid_loss": / {
      epoch = value("epoch"); loss = value("valid_loss"); accuracy = value("valid_accuracy")
      sub(/.*[ "]/, "", epoch); sub(/.*[ "]/, "", loss); sub(/.*[ "]/, "", accuracy)
      printf "   epoch %s: validation loss %s, accuracy@1 %s %%\n", epoch, loss, accuracy
      fflush()
    }' >&2 || status=$?
  if [[ $status != 0 ]]; then
    tail -n 20 "$OUT/$LOSS/train.log" >&2
    say "error: fairseq-train ended with status $status; its output is in $OUT/$LOSS/train.log"
    exit "$status"
  fi
  makes "$OUT/$LOSS/checkpoints/checkpoint_best.pt"
}

translate() {
  logged "$OUT/$LOSS/generate.log" fairseq-generate "$OUT/bin" --user-dir "$PLUGIN" \
    --path "$OUT/$LOSS/checkpoints/checkpoint_best.pt" --gen-subset test --beam 5 --batch-size 50 \
    --max-len-a 2 --max-len-b 5
  fairseq-xl data hypotheses "$OUT/$LOSS/generate.log" --output "$OUT/$LOSS/test.hyp" --like "$OUT/text/test.en"
  makes "$OUT/$LOSS/test.hyp"
}

# --force: the corpus is tokenised by nature, of which sacreBLEU would warn.
score() {
  sacrebleu "$OUT/text/test.en" --input "$OUT/$LOSS/test.hyp" --format text --force \
    >"$OUT/$LOSS/score.tmp"
  mv "$OUT/$LOSS/score.tmp" "$OUT/$LOSS/score"
  makes "$OUT/$LOSS/score"
}

inspect() {
  local status=0
  fairseq-xl translate nearest "$OUT/syn_margin_proj/checkpoints/checkpoint_best.pt" \
    --data "$OUT/bin" --sentence "$(sed -n 1p "$OUT/text/test.qel")" -k 6 \
    >"$OUT/neighbours" 2>"$OUT/neighbours.log" || status=$?
  if [[ $status != 0 ]]; then
    tail -n 20 "$OUT/neighbours.log" >&2
    exit "$status"
  fi
  makes "$OUT/neighbours"
}

# All that translating needs, in one folder; the text is tokenised by nature.
pack_model() {
  logged "$OUT/pack.log" fairseq-xl translate pack "$OUT/syn_margin_proj/checkpoints/checkpoint_best.pt" \
    --data "$OUT/bin" --source-lang qel --target-lang en --tokenizer none --beam 5 --output "$OUT/model"
  makes "$OUT/model"
}

translate_text() {
  head -n 3 "$OUT/text/test.qel" >"$OUT/new.qel"
  logged "$OUT/text.log" fairseq-xl translate text "$OUT/model" --input "$OUT/new.qel" --output "$OUT/new.en"
  makes "$OUT/new.en"
}

tag_sentences() {
  logged "$OUT/tags.log" fairseq-xl embed prepare --output "$OUT/tagged" --parallel "qel-en=$OUT/text/train" \
    --tagger "en=$OUT/text/en.conllu" --filters none --vocabulary 500 --valid 200 --seed "$SEED"
  makes "$OUT/tagged"
}

# It reads a sentence of qel and says the parts of speech of its English; one layer and few states for a minute's work.
train_encoder() {
  claim_checkpoints "$OUT/encoder.training"
  logged "$OUT/encoder.log" fairseq-train "$OUT/tagged" --user-dir "$PLUGIN" --task upos_translation --arch upos_lstm \
    --criterion upos_cross_entropy --encoder-layers 1 --encoder-cell-dim 64 --decoder-cell-dim 128 \
    --optimizer adam --lr 0.003 --batch-size 64 --max-update 240 --seed "$SEED" \
    --best-checkpoint-metric mean_accuracy --maximize-best-checkpoint-metric \
    --save-dir "$OUT/encoder.training" --no-epoch-checkpoints --log-format json --log-interval 40
  makes "$OUT/encoder.training/checkpoint_best.pt"
}

pack_encoder() {
  logged "$OUT/encoder.pack.log" fairseq-xl embed pack "$OUT/encoder.training/checkpoint_best.pt" \
    --output "$OUT/encoder"
  makes "$OUT/encoder"
}

embed_text() {
  logged "$OUT/embed.log" fairseq-xl embed text "$OUT/encoder" "$OUT/text/test.qel" --normalize -o "$OUT/test.npy"
  makes "$OUT/test.npy"
}

# What the report shows of Python is what runs here.
python_lines() {
  local OUT=${OUT//\"/\\\"}
  cat <<END
from fairseq_xl import Translator
translator = Translator.load("$OUT/model")
print(*translator.translate(open("$OUT/new.qel", encoding="utf-8").read().splitlines()), sep="\n")

import numpy as np
from fairseq_xl import SentenceEncoder
sentences = open("$OUT/text/test.qel", encoding="utf-8").read().splitlines()
vectors = SentenceEncoder.load("$OUT/encoder").encode(sentences, normalize=True)
print(*np.argsort(-(vectors @ vectors[0]))[:4] + 1)
END
}

run_python() {
  local status=0
  python_lines >"$OUT/try.py"
  python "$OUT/try.py" >"$OUT/try.out.tmp" 2>"$OUT/try.log" || status=$?
  if [[ $status != 0 ]]; then
    tail -n 20 "$OUT/try.log" >&2
    exit "$status"
  fi
  mv "$OUT/try.out.tmp" "$OUT/try.out"
  makes "$OUT/try.out"
}

draw_curves() {
  local logs=()
  for LOSS in $LOSSES; do logs+=("$OUT/$LOSS/train.log"); done
  # shellcheck disable=SC2086
  fairseq-xl experiment curves "${logs[@]}" --labels $LOSSES --output "$OUT/curves.png" >/dev/null
  makes "$OUT/curves.png"
}

show_translations() {
  local line
  for line in 1 2 3 4 5 6; do
    printf '\n  source           %s\n' "$(sed -n "${line}p" "$OUT/text/test.qel")"
    printf '  reference        %s\n' "$(sed -n "${line}p" "$OUT/text/test.en")"
    for LOSS in $LOSSES; do
      printf '  %-16s %s\n' "$LOSS" "$(sed -n "${line}p" "$OUT/$LOSS/test.hyp")"
    done
  done
}

show_packed() {
  local line alike
  printf '\nThe packed model: fairseq-xl translate text %s <new.qel >new.en\n\n' "$OUT/model"
  paste -d '\n' "$OUT/new.qel" "$OUT/new.en" | sed 's/^/  /'
  printf '\nThe same, and sentences built like the first, from Python:\n\n'
  python_lines | sed 's/^/  /'
  printf '\nThe sentence encoder: fairseq-xl embed text %s FILE -o X.npy; nearest by it:\n\n' "$OUT/encoder"
  read -ra alike < <(tail -n 1 "$OUT/try.out")
  for line in "${alike[@]}"; do printf '  %s\n' "$(sed -n "${line}p" "$OUT/text/test.en")"; done
}

if [[ $INSTALL == yes ]]; then
  VENV=${FAIRSEQ_XL_VENV:-$ROOT/.venv}
  bash "$ROOT/scripts/setup.sh" --venv "$VENV"
  PATH=$VENV/bin:$PATH
fi
# Sentences of ten words keep one core busy; more threads wait for each other (measured: 24 updates a second
# with one, 5 to 18 with two).
export PATH PYTHONUNBUFFERED=1 OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}

report() {
  SECONDS=0
  stage corpus "" generate_corpus "$SEED" "$TRAIN"
  stage vectors corpus train_vectors
  stage preprocess corpus preprocess
  for LOSS in $LOSSES; do
    stage "$LOSS.train" "vectors preprocess" train_model "$EPOCHS"
    stage "$LOSS.translate" "$LOSS.train" translate
    stage "$LOSS.score" "$LOSS.translate" score
  done
  stage neighbours syn_margin_proj.train inspect
  stage model syn_margin_proj.train pack_model
  stage text model translate_text
  stage tags corpus tag_sentences
  stage encoder.train tags train_encoder
  stage encoder encoder.train pack_encoder
  stage vectors_of_sentences encoder embed_text
  stage python "text encoder" run_python
  stage curves "syn_margin_proj.train vmf.train" draw_curves

  printf '\nTranslations of the test set (beam 5):\n'
  show_translations
  printf '\nEach predicted word, its cosine, and the words next to it (syn_margin_proj):\n\n'
  cat "$OUT/neighbours"
  printf '\nsacreBLEU on the test set:\n\n'
  failed=''
  for LOSS in $LOSSES; do
    printf '  %-16s %s\n' "$LOSS" "$(<"$OUT/$LOSS/score")"
    bleu=$(sed -E 's/^[^ ]* = ([0-9.]+) .*/\1/' "$OUT/$LOSS/score")
    if awk -v bleu="$bleu" -v least="$LEAST_BLEU" 'BEGIN { exit !(bleu < least) }'; then
      failed="$failed $LOSS"
    fi
  done
  show_packed
  printf '\nTraining curves: %s\n' "$OUT/curves.png"
  printf 'Everything else: %s (%d seconds of work)\n' "$OUT" "$SECONDS"
  if [[ -n $failed ]]; then
    say "error: below $LEAST_BLEU BLEU:$failed; the task is easier than that, so something is wrong here"
    exit 1
  fi
}

# Another quickstart in this folder waits, and then finds all of it done.
begin_in "$OUT"
STAMPS=$OUT/stamps
locked "$OUT/lock" report
