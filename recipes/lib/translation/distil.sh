# shellcheck shell=bash
# Sequence-level knowledge distillation (Kim & Rush 2016, https://arxiv.org/abs/1606.07947): a teacher's translations of
# the training text are what is trained on. Sourced by translation.sh.
#
# Only the target side of the training data changes. Truecasers, subword models, dictionaries, target vectors, the
# development set and the test set stay those of the real text. Runs with and without a teacher then differ in nothing
# else, and share what was prepared.

# How many lines an interruption may cost at most.
PART_LINES=2000

# Never an <unk>: after tokenising, that of raw text would be three words of the target language.
TEACHING=(--beam 5 --unkpen 1000)

# Refuses a folder that is no teacher of these languages, and names what is made with it: the text in DISTILLED, and in
# TRAINING_DATA, by the stage DATA_STAGE, what fairseq-train reads. A teacher is known by its content: translator.json
# has the checksum of every file beside it.
check_teacher() {
  local config=$TEACHER/translator.json from into name hash
  [[ -f $config ]] ||
    fail "--teacher $TEACHER is no packed model, for there is no translator.json in it: give the folder RUN/model of a recipe's run, or one of fairseq-xl translate pack"
  from=$(packed_language source) into=$(packed_language target)
  [[ -n $from && -n $into ]] || fail "--teacher: $config is damaged, for it names no languages: pack the model again"
  [[ $from == "$SRC" && $into == "$TGT" ]] ||
    fail "--teacher $TEACHER translates from $from to $into: give one that translates from $SRC to $TGT"
  hash=$(fingerprint "$config" | cut -c1-8)
  DISTILLED=$PREPARED/distilled.$hash
  TRAINING_DATA=$UNITS_FOLDER/distilled.$hash/bin DATA_STAGE=${IN_UNITS}distilled.$hash/preprocess
  # A recipe calls every model `model`; its run has the name.
  name=$(basename "$TEACHER")
  [[ $name != model ]] || name=$(basename "$(dirname "$TEACHER")")
  ABOUT+=("teacher=$name ($hash)")
}

packed_language() { # source|target
  sed -n "s/.*\"$1_lang\": *\"\([^\"]*\)\".*/\1/p" "$TEACHER/translator.json"
}

# By a lock of its own: runs without this teacher need not wait for its translations.
distil() {
  local text
  text=$(basename "$DISTILLED")
  stage "$text/translate" plain teach "${TEACHING[*]}"
  stage "$text/truecase" "truecase $text/translate" distilled_text
  stage "$DATA_STAGE" "$text/truecase ${IN_UNITS}preprocess" preprocess_distilled
}

# A file of translations appears when all of it is there, so the text is translated in parts: those of an interrupted
# stage are kept where the text is the same.
teach() {
  local source=$PREPARED/plain/train.$SRC parts part number=0 sources targets=()
  local command=(fairseq-xl translate text "$TEACHER" "${TEACHING[@]}")
  parts=$DISTILLED/parts.$(fingerprint "$source")
  [[ $DRY_RUN == yes || -d $parts ]] || rm -rf "$DISTILLED"/parts.*
  run mkdir -p "$parts"
  run split -a 5 -l "$PART_LINES" "$source" "$parts/source."
  if [[ $DRY_RUN == yes ]]; then
    # shellcheck disable=SC2016 # the loop's own variable
    printf 'for part in %q/source.*; do %s--input "$part" --output %q/target."${part##*.}"; done\n' \
      "$parts" "$(show "${command[@]}")" "$parts"
    printf 'cat %q/target.* > %q\n' "$parts" "$DISTILLED/translations.$TGT"
    return
  fi
  sources=("$parts"/source.*)
  for part in "${sources[@]}"; do
    targets+=("$parts/target.${part##*.}")
    number=$((number + 1))
    [[ ! -f ${targets[-1]} ]] || continue
    say "the teacher translates part $number of ${#sources[@]}"
    "${command[@]}" --input "$part" --output "${targets[-1]}"
  done
  joined "$DISTILLED/translations.$TGT" "${targets[@]}"
  makes "$DISTILLED/translations.$TGT"
  rm -r "$parts"
}

# Without the pairs for which the teacher found nothing to say.
distilled_text() {
  local language
  clean_pair "$PREPARED/plain/train.$SRC" "$DISTILLED/translations.$TGT" "$DISTILLED/plain/train" --empty drop
  for language in "$SRC" "$TGT"; do
    tokenise_set "$DISTILLED" train "$language"
    truecase_set "$DISTILLED" train "$language"
  done
}

preprocess_distilled() {
  local language folder=${TRAINING_DATA%/bin} texts=$DISTILLED/true
  if [[ $SUBWORDS != 0 ]]; then
    texts=$folder/pieces
    for language in "$SRC" "$TGT"; do encode_set "$DISTILLED/true" "$texts" train "$language"; done
  fi
  run rm -rf "$TRAINING_DATA.tmp"
  logged "$folder/preprocess.log" fairseq-preprocess --source-lang "$SRC" --target-lang "$TGT" \
    --srcdict "$UNITS_FOLDER/bin/dict.$SRC.txt" --tgtdict "$UNITS_FOLDER/bin/dict.$TGT.txt" \
    --trainpref "$texts/train" --validpref "$TEXTS/valid" --testpref "$TEXTS/test" \
    --destdir "$TRAINING_DATA.tmp" --workers "$THREADS"
  replace_folder "$TRAINING_DATA"
}
