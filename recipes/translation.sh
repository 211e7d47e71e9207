# shellcheck shell=bash
# The stages of a translation experiment, shared by multi30k.sh and iwslt16.sh: from line-aligned text
# to target vectors, binarised data, a trained model, translations and scores.
#
# A recipe changes the defaults it wants to, reads its command line with `read_options`, offers
# `recipe_option` for options of its own, `check_recipe` for what only it must check, and
# `plain_stages`, whose last stage `plain` writes PREPARED/plain/{train,valid,test}.{SRC,TGT}, and
# calls `translation_recipe`.

LOSSES="cross_entropy cross_entropy_tied vmf cosine l2 negative_sampling most_informative_negative
syn_margin_proj syn_margin_diff power_spherical in_batch_negative info_nce stock stock_transformer"

# Settings that both recipes offer under the same names.
defaults() {
  SRC=de TGT=en LOSS=syn_margin_proj SEED=1 ARCH=continuous_lstm SIZE=256
  EPOCHS='' CONTINUOUS_EPOCHS=15 SOFTMAX_EPOCHS=15 STOCK_EPOCHS=14 TRANSFORMER_EPOCHS=50
  OUT='' DATA='' MONO='' VECTORS='' TEST='' NAME='' URL='' TUNING=() PREPARE_ONLY=no
  DIM=300 VECTOR_EPOCHS=5 VECTOR_MIN_COUNT=2 VECTOR_SUBWORD=6 VECTOR_BUCKETS=200000
  VECTOR_THREADS='' TRANSFORM='' LIMITS=() SUBWORDS='' SUBWORD_KIND=bpe JOINT=no ABOUT=()
  DROPOUT=0.2 CONTINUOUS_DROPOUT='' LEARNING_RATE=1e-3 SOFTMAX_LEARNING_RATE='' ANNEAL=''
  BATCH_TOKENS=3000 CLIP_NORM=0 DECODE_SCORE=cosine HUB_WEIGHT=0 WARMUP=4000 REPLACE_UNKNOWN=''
  THREADS=$(nproc 2>/dev/null || echo 2)
}

# Reads one option; sets TAKEN to the number of words used, 0 for an option that is none of these.
common_option() { # OPTION [VALUE] …
  TAKEN=1
  case $1 in
    --dry-run) DRY_RUN=yes; return ;;
    --prepare-only) PREPARE_ONLY=yes; return ;;
    --joint) JOINT=yes; return ;;
    --src | --tgt | --loss | --seed | --arch | --size | --epochs | --out | --data | --mono | --vectors | \
      --vector-epochs | --transform | --subwords | --subword-kind | --test | --name | --threads | --url | \
      --replace-unknown) ;;
    *) TAKEN=0; return ;;
  esac
  TAKEN=2
  need_value "$@"
  case $1 in
    --src) SRC=$2 ;;
    --tgt) TGT=$2 ;;
    --loss) LOSS=$2 ;;
    --seed) SEED=$2 ;;
    --arch) ARCH=$2 ;;
    --size) SIZE=$2 ;;
    --epochs) EPOCHS=$2 ;;
    --out) OUT=$(absolute "$2") ;;
    --data) DATA=$(absolute "$2") ;;
    --mono) MONO=$(absolute "$2") ;;
    --vectors) VECTORS=$(absolute "$2") ;;
    --vector-epochs) VECTOR_EPOCHS=$2 ;;
    --transform) TRANSFORM=$2 ABOUT+=("transform=$2") ;;
    --subwords) SUBWORDS=$2 ;;
    --subword-kind) SUBWORD_KIND=$2 ;;
    --test) TEST=$(absolute "$2") ;;
    --name) NAME=$2 ;;
    --threads) THREADS=$2 ;;
    --url) URL=$2 ;;
    --replace-unknown) REPLACE_UNKNOWN=$2 ;;
  esac
}

# The whole command line of a recipe. What follows -- goes to fairseq-train.
read_options() { # RECIPE ARGUMENT…
  local recipe=$1
  shift
  while [[ $# -gt 0 ]]; do
    case $1 in
      -h | --help)
        usage "$recipe"
        exit 0
        ;;
      --)
        shift
        TUNING+=("$@")
        return
        ;;
    esac
    common_option "$@"
    [[ $TAKEN != 0 ]] || recipe_option "$@"
    [[ $TAKEN != 0 ]] || fail "$(basename "$recipe") has no option '$1': see --help"
    shift "$TAKEN"
  done
}

# Refuses what cannot work before any stage starts, and names the folders.
check_settings() {
  local option arch=.$ARCH
  grep -qw -- "$LOSS" <<<"$LOSSES" || fail "--loss is '$LOSS': choose one of" $LOSSES
  case $LOSS in
    stock) EPOCHS=${EPOCHS:-$STOCK_EPOCHS} ;;
    stock_transformer)
      EPOCHS=${EPOCHS:-$TRANSFORMER_EPOCHS}
      [[ -n $SUBWORDS ]] || SUBWORDS=10000 JOINT=yes # as fairseq's own example on TED talks
      ;;
    cross_entropy*) EPOCHS=${EPOCHS:-$SOFTMAX_EPOCHS} ;;
    *) EPOCHS=${EPOCHS:-$CONTINUOUS_EPOCHS} ;;
  esac
  SUBWORDS=${SUBWORDS:-0}
  for option in SEED SIZE EPOCHS VECTOR_EPOCHS SUBWORDS THREADS; do
    need_number "--$(tr 'A-Z_' 'a-z-' <<<"$option")" "${!option}"
  done
  [[ $REPLACE_UNKNOWN =~ ^(|attention|lexicon)$ ]] ||
    fail "--replace-unknown is '$REPLACE_UNKNOWN': choose attention or lexicon"
  [[ $SUBWORD_KIND =~ ^(bpe|unigram)$ ]] || fail "--subword-kind is '$SUBWORD_KIND': choose bpe or unigram"
  [[ $SUBWORDS != 0 || $JOINT == no ]] || fail "--joint is for subwords: give --subwords N, too"
  [[ $LOSS != stock_transformer || $((SIZE % 4)) == 0 ]] ||
    fail "--size is '$SIZE': the transformer's four heads need a multiple of 4"
  [[ $SUBWORDS == 0 || -z $REPLACE_UNKNOWN ]] ||
    fail "--replace-unknown is for whole words: subwords leave none unknown"
  [[ $SRC != "$TGT" ]] || fail "--src and --tgt are both '$SRC': give two languages"
  [[ -n $OUT ]] || fail "--out is missing: name the folder for data, checkpoints and scores"
  [[ -z $DATA || -d $DATA ]] || fail "--data $DATA is no folder: check the name"
  [[ -z $MONO ]] || need_file "$MONO" "text for --mono,"
  [[ -z $VECTORS ]] || need_file "$VECTORS" "vector file for --vectors,"
  if [[ -n $TEST ]]; then
    need_file "$TEST.$SRC" "test set for --test,"
    need_file "$TEST.$TGT" "test set for --test,"
  fi
  PREPARED=$OUT/prepared/$SRC-$TGT
  LEXICON=$PREPARED/lexicon.$SRC-$TGT.tsv
  # What is binarised, TEXTS, and all that follows from it is in UNITS_FOLDER: PREPARED itself for words, a
  # folder in it for subwords, whose stages bear its name (IN_UNITS).
  UNITS='' UNITS_FOLDER=$PREPARED IN_UNITS='' TEXTS=$PREPARED/true
  if [[ $SUBWORDS != 0 ]]; then
    UNITS=$SUBWORD_KIND$SUBWORDS
    [[ $JOINT == no ]] || UNITS+=.joint
    UNITS_FOLDER=$PREPARED/$UNITS IN_UNITS=$UNITS/ TEXTS=$PREPARED/$UNITS/pieces
    # Every piece of the training text has a place in the dictionary and a vector of its own.
    LIMITS=() VECTOR_MIN_COUNT=1 VECTOR_SUBWORD=0 ABOUT+=("subwords=$UNITS")
  fi
  [[ $LOSS != stock* ]] || arch=''
  NAME=${NAME:-$SRC-$TGT.$LOSS$arch.$SIZE${UNITS:+.$UNITS}.seed$SEED}
  RUN=$OUT/runs/$NAME
}

# --- from plain text to binarised data and target vectors ------------------------------------------

clean_pair() { # SOURCE TARGET OUT_PREFIX OPTION…
  local source=$1 target=$2 prefix=$3
  shift 3
  run fairseq-xl text clean "$source" "$target" --output "$prefix.$SRC" "$prefix.$TGT" "$@"
}

tokenise_set() { # FOLDER SET LANGUAGE
  run fairseq-xl text tokenise "$1/plain/$2.$3" "$1/tok/$2.$3" --language "$3" --processes "$THREADS"
}

truecase_set() { # FOLDER SET LANGUAGE
  run fairseq-xl text truecase "$1/tok/$2.$3" "$1/true/$2.$3" \
    --model "$PREPARED/truecaser.$3" --processes "$THREADS"
}

tokenise_all() {
  local set language
  for language in "$SRC" "$TGT"; do
    for set in train valid test; do tokenise_set "$PREPARED" "$set" "$language"; done
  done
}

truecase_all() {
  local set language
  for language in "$SRC" "$TGT"; do
    run fairseq-xl text truecaser "$PREPARED/tok/train.$language" \
      --output "$PREPARED/truecaser.$language"
    for set in train valid test; do truecase_set "$PREPARED" "$set" "$language"; done
  done
}

mono_text() {
  run fairseq-xl text tokenise "$MONO" "$PREPARED/tok/mono.$TGT" --language "$TGT" \
    --processes "$THREADS"
  truecase_set "$PREPARED" mono "$TGT"
}

# SentencePiece on what was truecased: the way back is then the same as for words.
subword_texts() {
  local set language
  if [[ $JOINT == yes ]]; then
    learn_subwords "$SRC" "$PREPARED/true/train.$SRC" "$PREPARED/true/train.$TGT"
  else
    for language in "$SRC" "$TGT"; do learn_subwords "$language" "$PREPARED/true/train.$language"; done
  fi
  for language in "$SRC" "$TGT"; do
    for set in train valid test; do encode_set "$PREPARED/true" "$TEXTS" "$set" "$language"; done
  done
}

subword_model() { # LANGUAGE
  [[ $JOINT == no ]] && echo "$UNITS_FOLDER/subwords.$1.model" || echo "$UNITS_FOLDER/subwords.model"
}

learn_subwords() { # LANGUAGE TEXT…
  run fairseq-xl text subwords train "${@:2}" --output "$(subword_model "$1")" --size "$SUBWORDS" \
    --kind "$SUBWORD_KIND"
}

encode_set() { # FROM TO SET LANGUAGE
  run fairseq-xl text subwords encode "$1/$3.$4" "$2/$3.$4" --model "$(subword_model "$4")"
}

subword_mono() { encode_set "$PREPARED/true" "$TEXTS" mono "$TGT"; }

# FOLDER.tmp takes the place of FOLDER; a run that reads the old one keeps its open files.
replace_folder() {
  run rm -rf "$1.old"
  [[ ! -d $1 ]] || run mv "$1" "$1.old"
  run mv "$1.tmp" "$1"
  run rm -rf "$1.old"
}

binarise() {
  # fairseq-preprocess refuses dictionaries that are there already: a fresh folder, moved when complete
  run rm -rf "$UNITS_FOLDER/bin.tmp"
  logged "$UNITS_FOLDER/logs/binarise.log" fairseq-preprocess --source-lang "$SRC" --target-lang "$TGT" \
    --trainpref "$TEXTS/train" --validpref "$TEXTS/valid" \
    --testpref "$TEXTS/test" --destdir "$UNITS_FOLDER/bin.tmp" --workers "$THREADS" "${LIMITS[@]}"
  replace_folder "$UNITS_FOLDER/bin"
}

train_vectors() {
  local texts=("$TEXTS/train.$TGT")
  [[ -z $MONO ]] || texts+=("$TEXTS/mono.$TGT")
  run fairseq-xl vectors train "${texts[@]}" --output "$UNITS_FOLDER/vectors/$TGT" --model skipgram \
    --dim "$DIM" --epoch "$VECTOR_EPOCHS" --min-count "$VECTOR_MIN_COUNT" \
    --max-subword "$VECTOR_SUBWORD" --buckets "$VECTOR_BUCKETS" --seed 0 \
    --threads "${VECTOR_THREADS:-$THREADS}"
}

target_vectors() {
  local source=${VECTORS:-$UNITS_FOLDER/vectors/$TGT.bin} transform=()
  [[ -z $TRANSFORM ]] || read -ra transform <<<"$TRANSFORM"
  run fairseq-xl vectors convert "$source" "$TARGET_VECTORS" --dict "$UNITS_FOLDER/bin/dict.$TGT.txt" \
    "${transform[@]}"
}

make_lexicon() {
  run fairseq-xl lexicon "$PREPARED/true/train.$SRC" "$PREPARED/true/train.$TGT" --output "$LEXICON"
}

prepare() {
  TARGET_VECTORS=$UNITS_FOLDER/vectors/target.$TGT.vec
  # Runs with other vectors or transforms share the prepared data, not the table.
  if [[ -n $VECTORS$TRANSFORM ]]; then
    TARGET_VECTORS=$UNITS_FOLDER/vectors/target.$TGT.$(
      printf '%s' "$(fingerprint "$VECTORS") $TRANSFORM" | sha256sum | cut -c1-8
    ).vec
  fi
  # fairseq's own models have no table
  [[ $LOSS != stock* ]] || TARGET_VECTORS=''
  STAMPS=$PREPARED/stamps
  locked "$PREPARED/lock" prepare_stages
}

prepare_stages() {
  local corpus=truecase
  plain_stages
  stage tokenise plain tokenise_all
  stage truecase tokenise truecase_all
  if [[ -n $UNITS ]]; then
    corpus=${IN_UNITS}texts
    stage "$corpus" truecase subword_texts
  fi
  stage "${IN_UNITS}binarise" "$corpus" binarise "${LIMITS[@]}"
  [[ $REPLACE_UNKNOWN != lexicon ]] || stage lexicon truecase make_lexicon
  [[ -n $TARGET_VECTORS ]] || return 0
  if [[ -z $VECTORS ]]; then
    if [[ -n $MONO ]]; then
      stage mono truecase mono_text "$(fingerprint "$MONO")"
      [[ -z $UNITS ]] || stage "${IN_UNITS}mono" "mono $corpus" subword_mono
      corpus+=" ${IN_UNITS}mono"
    fi
    stage "${IN_UNITS}vectors" "$corpus" train_vectors "$DIM" "$VECTOR_EPOCHS" "$VECTOR_MIN_COUNT" \
      "$VECTOR_SUBWORD" "$VECTOR_BUCKETS"
    stage "$IN_UNITS$(basename "$TARGET_VECTORS")" "${IN_UNITS}binarise ${IN_UNITS}vectors" \
      target_vectors "$TRANSFORM"
  else
    stage "$IN_UNITS$(basename "$TARGET_VECTORS")" "${IN_UNITS}binarise" target_vectors "$TRANSFORM" \
      "$(fingerprint "$VECTORS")"
  fi
}

# --- the model -------------------------------------------------------------------------------------

is_transformer() { [[ $LOSS != stock* && $ARCH == *transformer* ]]; }

# SIZES for the body: SIZE everywhere, or nothing for 0, the architecture's own. An LSTM has it in each
# direction of the encoder, as the yardstick does; a Transformer's inner layers are four times as wide.
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

# The one place for what each loss trains with. Continuous and softmax outputs share the model's
# body, the optimiser and the batches; `stock` and `stock_transformer` are fairseq's own models, the
# yardsticks.
model_options() {
  local body=(--arch "$ARCH" --target-vectors "$RUN/target.vec")
  body_sizes
  body+=("${SIZES[@]}")
  case $LOSS in
    stock)
      # as the yardstick was first measured
      DROPOUT=0.2 LEARNING_RATE=1e-3 ANNEAL='' BATCH_TOKENS=3000 CLIP_NORM=0
      MODEL=(
        --arch lstm --criterion cross_entropy --encoder-bidirectional --share-decoder-input-output-embed
      )
      [[ $SIZE == 0 ]] || MODEL+=(
        --encoder-embed-dim "$SIZE" --encoder-hidden-size "$SIZE"
        --decoder-embed-dim "$SIZE" --decoder-hidden-size "$SIZE" --decoder-out-embed-dim "$SIZE"
      )
      ;;
    stock_transformer)
      # fairseq's example for IWSLT'14; smaller ones in the same proportions, with fewer layers
      DROPOUT=0.3 LEARNING_RATE=5e-4 ANNEAL='' BATCH_TOKENS=4096 CLIP_NORM=0
      MODEL=(
        --arch transformer_iwslt_de_en --share-decoder-input-output-embed
        --criterion label_smoothed_cross_entropy --label-smoothing 0.1
        --adam-betas '(0.9, 0.98)' --weight-decay 1e-4 --lr-scheduler inverse_sqrt --warmup-updates 4000
      )
      [[ $SIZE == 0 ]] || MODEL+=(
        --encoder-layers 4 --encoder-embed-dim "$SIZE" --encoder-ffn-embed-dim "$((2 * SIZE))"
        --decoder-layers 4 --decoder-embed-dim "$SIZE" --decoder-ffn-embed-dim "$((2 * SIZE))"
      )
      ;;
    cross_entropy | cross_entropy_tied) LEARNING_RATE=${SOFTMAX_LEARNING_RATE:-$LEARNING_RATE} ;;
    *) DROPOUT=${CONTINUOUS_DROPOUT:-$DROPOUT} ;;
  esac
  case $LOSS in
    stock*) ;;
    cross_entropy) MODEL=("${body[@]}" --criterion cross_entropy --decoder-output softmax) ;;
    cross_entropy_tied) MODEL=("${body[@]}" --criterion cross_entropy --decoder-output softmax_tied) ;;
    *)
      MODEL=(
        "${body[@]}" --criterion "$LOSS" --decoder-output continuous
        --best-checkpoint-metric accuracy --maximize-best-checkpoint-metric
      )
      # Its norm is vMF's own confidence, which a beam can use.
      [[ $LOSS != vmf ]] || DECODE_SCORE=vmf_posterior
      MODEL+=(--decode-score "$DECODE_SCORE")
      [[ $HUB_WEIGHT == 0 ]] || MODEL+=(--decode-hub-weight "$HUB_WEIGHT")
      ;;
  esac
  if is_transformer; then
    # Its first updates must be small, and so must Adam's memory of them; then 1/√updates.
    LEARNING_RATE=5e-4 ANNEAL=''
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
  MODEL+=("${TUNING[@]}")
}

# fairseq rounds batches to multiples of eight and drops what remains of the last one, in training too.
WHOLE=(--required-batch-size-multiple 1)

train_model() {
  local command=(
    fairseq-train "$UNITS_FOLDER/bin" --user-dir "$PLUGIN" --task translation
    --source-lang "$SRC" --target-lang "$TGT" "${MODEL[@]}"
    --max-epoch "$EPOCHS" --seed "$SEED" --save-dir "$RUN/checkpoints" --no-epoch-checkpoints
    --log-format json --log-interval 100 --num-workers 0 "${WHOLE[@]}"
  )
  if [[ $DRY_RUN == yes ]]; then
    show "${command[@]}"
    return
  fi
  mkdir -p "$RUN"
  show "${command[@]}" >"$RUN/train.command"
  # Not --log-file: fairseq opens it anew each epoch and then writes every line several times.
  "${command[@]}" 2>&1 | tee -a "$RUN/train.log"
  [[ -s $RUN/checkpoints/checkpoint_best.pt ]] || fail "training left no checkpoint: see $RUN/train.log"
}

# A checkpoint goes on only under the settings it began with; more epochs are no other setting.
claim_run() {
  if [[ $DRY_RUN == yes ]]; then
    [[ -z $TARGET_VECTORS ]] || show ln "$TARGET_VECTORS" "$RUN/target.vec"
    return
  fi
  local settings
  settings=$(printf '%s\n' "${MODEL[@]}" "seed $SEED" "vectors $(fingerprint "$TARGET_VECTORS")" \
    "data $(fingerprint "$STAMPS/${IN_UNITS}binarise")")
  mkdir -p "$RUN"
  if [[ -f $RUN/settings && $(<"$RUN/settings") != "$settings" ]]; then
    diff "$RUN/settings" - <<<"$settings" >&2 || true
    fail "$RUN was begun with other settings (above): give another --name, or remove that folder"
  fi
  # The table as it is now: the prepared one is replaced, never rewritten, when its settings change.
  if [[ ! -f $RUN/settings && -n $TARGET_VECTORS ]]; then
    rm -f "$RUN/target.vec"
    ln "$TARGET_VECTORS" "$RUN/target.vec" 2>/dev/null || cp "$TARGET_VECTORS" "$RUN/target.vec"
  fi
  printf '%s\n' "$settings" >"$RUN/settings"
}

# --- translation and scores ------------------------------------------------------------------------

# What `fairseq-xl translate` needs, in one folder that can be copied elsewhere.
pack_model() {
  run fairseq-xl pack "$RUN/checkpoints/checkpoint_best.pt" --data "$PREPARED/bin" \
    --source-lang "$SRC" --target-lang "$TGT" --truecaser "$PREPARED/truecaser.$SRC" \
    --output "$RUN/model"
}

# The test set to translate: BINARISED, its SPELLING, REFERENCE and the LABEL in the names of its files,
# which says, too, how unknown words were replaced.
choose_test() {
  LABEL='' BINARISED=$UNITS_FOLDER/bin SPELLING=$PREPARED/true/test.$SRC REFERENCE=$PREPARED/plain/test.$TGT
  [[ -z $TEST ]] || choose_other_test
  [[ -z $REPLACE_UNKNOWN ]] || LABEL=${LABEL:-test.}unknown_by_$REPLACE_UNKNOWN.
}

choose_other_test() {
  local name
  name=$(basename "$TEST")
  LABEL=$name. TEST_FOLDER=$UNITS_FOLDER/tests/$name
  BINARISED=$TEST_FOLDER/bin SPELLING=$TEST_FOLDER/true/test.$SRC REFERENCE=$TEST_FOLDER/plain/test.$TGT
  stage "${IN_UNITS}test.$name" "truecase ${IN_UNITS}binarise" prepare_test \
    "$(fingerprint "$TEST.$SRC" "$TEST.$TGT")"
}

prepare_test() {
  local language
  run mkdir -p "$TEST_FOLDER"
  clean_pair "$TEST.$SRC" "$TEST.$TGT" "$TEST_FOLDER/plain/test" --empty keep
  for language in "$SRC" "$TGT"; do
    tokenise_set "$TEST_FOLDER" test "$language"
    truecase_set "$TEST_FOLDER" test "$language"
    [[ -z $UNITS ]] || encode_set "$TEST_FOLDER/true" "$TEST_FOLDER/pieces" test "$language"
  done
  run rm -rf "$BINARISED.tmp"
  logged "$TEST_FOLDER/binarise.log" fairseq-preprocess --source-lang "$SRC" --target-lang "$TGT" \
    --srcdict "$UNITS_FOLDER/bin/dict.$SRC.txt" --tgtdict "$UNITS_FOLDER/bin/dict.$TGT.txt" \
    --testpref "$TEST_FOLDER/$(basename "$TEXTS")/test" --destdir "$BINARISED.tmp"
  replace_folder "$BINARISED"
}

translate() {
  local prefix=$RUN/$LABEL attention=() replace=()
  local best=${prefix}hyp.beam$BEAM.tok
  [[ -z $UNITS ]] || best=${prefix}hyp.beam$BEAM.pieces
  if [[ -n $REPLACE_UNKNOWN ]]; then
    attention=(--print-alignment soft)
    # fairseq's own lstm shifts its attention by padding on the left; this option turns that off.
    [[ $LOSS != stock ]] || attention+=(--left-pad-source)
    replace=(--replace-unknown "$REPLACE_UNKNOWN" --spelling "$SPELLING")
    [[ $REPLACE_UNKNOWN != lexicon ]] || replace+=(--lexicon "$LEXICON")
  fi
  logged "${prefix}generate.beam$BEAM.log" fairseq-generate "$BINARISED" --user-dir "$PLUGIN" \
    --task translation --source-lang "$SRC" --target-lang "$TGT" --gen-subset test \
    --path "$RUN/checkpoints/checkpoint_best.pt" --beam "$BEAM" --batch-size 64 "${WHOLE[@]}" \
    "${attention[@]}"
  run fairseq-xl text hypotheses "${prefix}generate.beam$BEAM.log" "$best" --like "$REFERENCE" \
    "${replace[@]}"
  [[ -z $UNITS ]] || run fairseq-xl text subwords decode "$best" "${prefix}hyp.beam$BEAM.tok"
  run fairseq-xl text postprocess "${prefix}hyp.beam$BEAM.tok" "${prefix}hyp.beam$BEAM.txt" \
    --language "$TGT"
}

score() {
  local prefix=$RUN/$LABEL
  local command=(sacrebleu "$REFERENCE" --input "${prefix}hyp.beam$BEAM.txt" --metrics bleu chrf --width 2)
  if [[ $DRY_RUN == yes ]]; then
    show "${command[@]}"
    return
  fi
  "${command[@]}" --format json >"${prefix}score.beam$BEAM.json.tmp"
  mv "${prefix}score.beam$BEAM.json.tmp" "${prefix}score.beam$BEAM.json"
  "${command[@]}" --format text | tee "${prefix}score.beam$BEAM.txt"
}

write_record() {
  run fairseq-xl record "$RUN" --about "recipe=$(basename "$0")" "source=$SRC" "target=$TGT" \
    "loss=$LOSS" "${ABOUT[@]}" ${REPLACE_UNKNOWN:+"unknown_words=in ${LABEL%.} replaced by $REPLACE_UNKNOWN"}
}

experiment() {
  local scored=() lexicon=()
  [[ $REPLACE_UNKNOWN != lexicon ]] || lexicon=("$(fingerprint "$LEXICON")")
  model_options
  claim_run
  locked "$PREPARED/lock" choose_test
  STAMPS=$RUN/stamps
  stage train '' train_model "$EPOCHS" "$(fingerprint "$RUN/settings")"
  stage model train pack_model
  for BEAM in 1 5; do
    stage "${LABEL}translate.beam$BEAM" train translate "$(fingerprint "$BINARISED/test.$SRC-$TGT.$SRC.bin")" \
      "${lexicon[@]}"
    stage "${LABEL}score.beam$BEAM" "${LABEL}translate.beam$BEAM" score "$(fingerprint "$REFERENCE")"
    scored+=("${LABEL}score.beam$BEAM")
  done
  stage "${LABEL}record" "${scored[*]}" write_record
  [[ $DRY_RUN == yes ]] || say "scores and settings: $RUN/record.json; raw text: fairseq-xl translate $RUN/model"
}

translation_recipe() {
  check_settings
  check_recipe
  activate
  prepare
  [[ $PREPARE_ONLY == yes ]] || experiment
}
