# shellcheck shell=bash
# What a trained model leaves: a folder to translate with, translations, scores, measurements, a record. Sourced by
# translation.sh.

# Vectors now and then repeat a word for ever: without a limit that looks at the source (fairseq's is 200 words) 7 of
# 1,014 sentences cost 3 BLEU of vMF's greedy output on validation.
MAX_LEN_A=1.5 MAX_LEN_B=5

SEARCHED="lenpen temperature max_len_a max_len_b min_len no_repeat_ngram_size unkpen"
DECODED="decode_score decode_scale decode_csls_weight decode_prior_weight"

# From --search, or from what `translate tune` chose for it: SEARCH, the words for fairseq-generate, and PACKED, the same
# for a packed model.
read_search() {
  local pair name value more=() vectors=() overrides=''
  [[ ${SEARCH_GIVEN[*]} != tune ]] || TUNE=yes SEARCH_GIVEN=()
  for pair in "${SEARCH_GIVEN[@]}"; do
    name=${pair%%=*} value=${pair#*=}
    one_of "$name" "$SEARCHED $DECODED" && [[ $pair == *=* ]] ||
      fail "--search has '$pair': give tune alone, or NAME=VALUE with one of" $SEARCHED $DECODED
    if [[ $name == decode_score ]]; then
      [[ $value =~ ^[a-z_]+$ ]] || fail "--search has '$pair': give the name of a score"
    else
      [[ $value =~ ^-?[0-9]+(\.[0-9]+)?$ ]] || fail "--search has '$pair': give a number"
    fi
    case $name in
      max_len_a) MAX_LEN_A=$value ;;
      max_len_b) MAX_LEN_B=$value ;;
      decode_*)
        [[ $LOSS != stock* && $LOSS != cross_entropy* ]] ||
          fail "--search has '$pair', which is for continuous outputs: $LOSS has a softmax"
        vectors+=("--${name//_/-}" "$value")
        [[ $name != decode_score ]] || value="'$value'"
        overrides+="${overrides:+,}'$name':$value"
        ;;
      *) more+=("--${name//_/-}" "$value") ;;
    esac
  done
  SEARCH=(--max-len-a "$MAX_LEN_A" --max-len-b "$MAX_LEN_B" "${more[@]}")
  PACKED=(--beam 5 "${SEARCH[@]}" "${vectors[@]}")
  [[ -z $overrides ]] || SEARCH+=(--model-overrides "{$overrides}")
}

# --search tune: the options that suit this model on the development set, at beam 5.
tune_search() {
  local command=(
    fairseq-xl translate tune "$RUN/checkpoints/checkpoint_best.pt" --data "$UNITS_FOLDER/bin"
    --max-len-a "$MAX_LEN_A" --max-len-b "$MAX_LEN_B" --results "$RUN/tune.jsonl" --choice "$RUN/tune.search"
  )
  ! of_pieces "$TGT" || command+=(--post-process sentencepiece)
  if [[ $DRY_RUN == yes ]]; then
    show "${command[@]}"
    return
  fi
  "${command[@]}" | tee "$RUN/tune.txt"
  makes "$RUN"/tune.{txt,search}
}

# What `fairseq-xl translate text` needs, in one folder that can be copied elsewhere.
pack_model() {
  local pieces=()
  ! has_case "$SRC" || pieces=(--truecaser "$PREPARED/truecaser.$SRC")
  has_case "$SRC" || ! has_case "$TGT" || pieces+=(--target-truecased)
  [[ $SUBWORDS == 0 ]] || pieces+=(--subwords "$(subword_model "$SRC")")
  [[ $SUBWORDS == 0 ]] || of_pieces "$TGT" || pieces+=(--target-words)
  run fairseq-xl translate pack "$RUN/checkpoints/checkpoint_best.pt" --data "$UNITS_FOLDER/bin" \
    --source-lang "$SRC" --target-lang "$TGT" "${pieces[@]}" "${PACKED[@]}" --output "$RUN/model"
  makes "$RUN/model"
}

# The test set to translate: TEST_DATA, its SPELLING, REFERENCE and the LABEL in the names of its files,
# which says, too, how unknown words were read and replaced.
choose_test() {
  LABEL='' TEST_DATA=$UNITS_FOLDER/bin SPELLING=$PREPARED/true/test.$SRC REFERENCE=$PREPARED/plain/test.$TGT
  [[ -z $TEST ]] || choose_other_test
  [[ -z $READ_UNKNOWN ]] || choose_known_words
  [[ -z $REPLACE_UNK ]] || LABEL=${LABEL:-test.}unknown_by_$REPLACE_UNK.
}

choose_other_test() {
  local name
  name=$(basename "$TEST")
  LABEL=$name. TEST_FOLDER=$UNITS_FOLDER/tests/$name
  TEST_DATA=$TEST_FOLDER/bin SPELLING=$TEST_FOLDER/true/test.$SRC REFERENCE=$TEST_FOLDER/plain/test.$TGT
  stage "${IN_UNITS}test.$name" "truecase ${IN_UNITS}preprocess" prepare_test \
    "$(fingerprint "$TEST.$SRC" "$TEST.$TGT")"
}

prepare_test() {
  local language
  run mkdir -p "$TEST_FOLDER"
  clean_pair "$TEST.$SRC" "$TEST.$TGT" "$TEST_FOLDER/plain/test" --empty keep
  for language in "$SRC" "$TGT"; do
    tokenise_set "$TEST_FOLDER" test "$language"
    truecase_set "$TEST_FOLDER" test "$language"
    [[ $SUBWORDS == 0 ]] || encode_set "$TEST_FOLDER/true" "$TEST_FOLDER/pieces" test "$language"
  done
  preprocess_test "$TEST_FOLDER/$(basename "$TEXTS")/test"
}

# The same test set with its unknown source words read as the known ones nearest to them.
choose_known_words() {
  local name=${LABEL:-test.}known$READ_UNKNOWN earlier="${IN_UNITS}preprocess source_vectors"
  [[ -z $TEST ]] || earlier+=" ${IN_UNITS}test.${LABEL%.}"
  LABEL=${LABEL:-test.}known_words. TEST_FOLDER=$UNITS_FOLDER/tests/$name TEST_DATA=$UNITS_FOLDER/tests/$name/bin
  stage "$IN_UNITS$name" "$earlier" prepare_known_words
}

prepare_known_words() {
  run mkdir -p "$TEST_FOLDER/known"
  run fairseq-xl data known-words "$SPELLING" --dict "$UNITS_FOLDER/bin/dict.$SRC.txt" \
    --vectors "$PREPARED/vectors/source.$SRC.bin" --min-cosine "$READ_UNKNOWN" --output "$TEST_FOLDER/known/test.$SRC"
  run cp "${SPELLING%.*}.$TGT" "$TEST_FOLDER/known/test.$TGT"
  preprocess_test "$TEST_FOLDER/known/test"
}

preprocess_test() { # PREFIX
  run rm -rf "$TEST_DATA.tmp"
  logged "$TEST_FOLDER/preprocess.log" fairseq-preprocess --source-lang "$SRC" --target-lang "$TGT" \
    --srcdict "$UNITS_FOLDER/bin/dict.$SRC.txt" --tgtdict "$UNITS_FOLDER/bin/dict.$TGT.txt" \
    --testpref "$1" --destdir "$TEST_DATA.tmp"
  replace_folder "$TEST_DATA"
}

translate() {
  local prefix=$RUN/$LABEL attention=() replace=()
  local best=${prefix}hyp.beam$BEAM.tok
  ! of_pieces "$TGT" || best=${prefix}hyp.beam$BEAM.pieces
  if [[ -n $REPLACE_UNK ]]; then
    attention=(--print-alignment soft)
    # fairseq's own lstm shifts its attention by padding on the left; this option turns that off.
    [[ $LOSS != stock ]] || attention+=(--left-pad-source)
    replace=(--replace-unk --spelling "$SPELLING")
    [[ -z $READ_UNKNOWN ]] || replace+=(--as-read "$TEST_FOLDER/known/test.$SRC")
    [[ $REPLACE_UNK != lexicon ]] || replace+=(--lexicon "$LEXICON")
  fi
  logged "${prefix}generate.beam$BEAM.log" fairseq-generate "$TEST_DATA" --user-dir "$PLUGIN" \
    --task translation --source-lang "$SRC" --target-lang "$TGT" --gen-subset test \
    --path "$RUN/checkpoints/checkpoint_best.pt" --beam "$BEAM" --batch-size 64 "${SEARCH[@]}" "${WHOLE[@]}" \
    "${attention[@]}"
  run fairseq-xl data hypotheses "${prefix}generate.beam$BEAM.log" --output "$best" --like "$REFERENCE" \
    "${replace[@]}"
  ! of_pieces "$TGT" || run fairseq-xl data decode-subwords "$best" --output "${prefix}hyp.beam$BEAM.tok"
  run fairseq-xl data postprocess "${prefix}hyp.beam$BEAM.tok" --output "${prefix}hyp.beam$BEAM.txt" \
    --language "$TGT"
  makes "${prefix}hyp.beam$BEAM.txt"
}

score() {
  local prefix=$RUN/$LABEL
  local tokens=()
  if one_of "$TGT" "zh zho chi cmn yue"; then
    tokens=(--tokenize zh)
  elif unspaced "$TGT"; then
    tokens=(--tokenize char)
  fi
  run fairseq-xl translate word-recall "${prefix}hyp.beam$BEAM.txt" --reference "$REFERENCE" \
    --training "$PREPARED/plain/train.$TGT" --output "${prefix}words.beam$BEAM.json" "${tokens[@]}"
  local command=(sacrebleu "$REFERENCE" --input "${prefix}hyp.beam$BEAM.txt" --metrics bleu chrf --width 2 "${tokens[@]}")
  if [[ $DRY_RUN == yes ]]; then
    show "${command[@]}"
    return
  fi
  # What a comparison of runs reads, so that it needs the runs' folders alone.
  cp "$REFERENCE" "${prefix}ref.txt"
  cp "${REFERENCE%.*}.$SRC" "${prefix}src.txt"
  makes "${prefix}ref.txt" "${prefix}src.txt" "${prefix}words.beam$BEAM.json" "${prefix}score.beam$BEAM.json"
  "${command[@]}" --format json >"${prefix}score.beam$BEAM.json.tmp"
  printf '%s\n' "${SEARCH[*]}" >"${prefix}score.beam$BEAM.search"
  mv "${prefix}score.beam$BEAM.json.tmp" "${prefix}score.beam$BEAM.json"
  "${command[@]}" --format text | tee "${prefix}score.beam$BEAM.txt"
}

# What the predicted vectors are like: Table 2 of the syn-margin paper, its negatives, angles and hubs.
diagnose() {
  local checkpoints=() words=() number
  if [[ $DIAGNOSE == epochs ]]; then
    # Patience or a limit of updates may have ended training before the last epoch.
    for number in $(seq "$EPOCHS"); do
      [[ $DRY_RUN == no && ! -f $RUN/checkpoints/checkpoint$number.pt ]] ||
        checkpoints+=("$RUN/checkpoints/checkpoint$number.pt")
    done
    [[ ${#checkpoints[@]} != 0 ]] ||
      fail "--diagnose epochs: $RUN was trained without it and kept no epoch's model; give another --name, or best"
  fi
  checkpoints+=("$RUN/checkpoints/checkpoint_best.pt")
  [[ ${#DIAGNOSE_WORDS[@]} == 0 ]] || words=(--words "${DIAGNOSE_WORDS[@]}")
  logged "$RUN/diagnose.log" fairseq-xl translate diagnose "${checkpoints[@]}" \
    --data "$UNITS_FOLDER/bin" --output "$RUN/diagnostics.json" "${words[@]}"
  makes "$RUN/diagnostics.json"
}

write_record() {
  run fairseq-xl experiment record "$RUN" ${TARGETS_RUN:+--targets-run "$TARGETS_RUN"} \
    --about "recipe=$(basename "$0")" "source=$SRC" "target=$TGT" "loss=$LOSS" "search=${SEARCH[*]}" "${ABOUT[@]}" \
    ${READ_UNKNOWN:+"source_words=unknown ones read as known ones from a cosine of $READ_UNKNOWN in $LABEL"} \
    ${REPLACE_UNK:+"unknown_words=in ${LABEL%.} replaced by $REPLACE_UNK"}
  makes "$RUN/record.json"
}

# At the end of a recipe: how to use what it made.
next_steps() {
  [[ $DRY_RUN == no && $PREPARE_ONLY == no && $TRAIN_ONLY == no ]] || return 0
  local sentence folder=${RUN//\"/\\\"}
  sentence=$(sed -n 1p "$PREPARED/plain/test.$SRC")
  sentence=${sentence//\\/\\\\} sentence=${sentence//\"/\\\"}
  cat <<END

Translate a file, a sentence a line:

  fairseq-xl translate text $(printf %q "$RUN/model") --input FILE.$SRC --output FILE.$TGT

or in Python:

  from fairseq_xl import Translator
  translator = Translator.load("$folder/model")
  print(translator.translate(["$sentence"])[0])
END
}
