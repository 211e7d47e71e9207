# shellcheck shell=bash
# From plain text to a data directory and target vectors. Sourced by translation.sh.

# A file that is there is not fetched again, so another address than the PUBLISHED one has a folder of its own.
name_mirror() {
  MIRROR=''
  [[ $URL == "$PUBLISHED" ]] || MIRROR=/$(printf %s "$URL" | sha256sum | cut -c1-8)
}

clean_pair() { # SOURCE TARGET OUT_PREFIX OPTION…
  local source=$1 target=$2 prefix=$3
  shift 3
  run fairseq-xl data clean "$source" "$target" --output "$prefix.$SRC" "$prefix.$TGT" "$@"
}

# One corpus cut into PREPARED/split and cleaned: what trains by TRAIN_RULES, the sets that are measured as they are.
split_pairs() { # CORPUS OPTION…
  local set rules
  run fairseq-xl data split "$1" --languages "$SRC" "$TGT" "${@:2}" --output "$PREPARED/split"
  for set in train valid test; do
    rules=(--empty keep)
    [[ $set != train || -z ${TRAIN_RULES:-} ]] || rules=("${TRAIN_RULES[@]}")
    clean_pair "$PREPARED/split/$set.$SRC" "$PREPARED/split/$set.$TGT" "$PREPARED/plain/$set" "${rules[@]}"
  done
}

# Codes of two and of three letters.
UNSPACED="zh zho chi cmn yue ja jpn th tha lo lao km khm my mya bur bo bod tib dz dzo"
CASELESS="$UNSPACED ko kor ar ara fa fas per ur urd ps pus he heb yi yid hi hin mr mar ne nep bn ben as asm gu guj pa pan
or ori ta tam te tel kn kan ml mal si sin am amh ti tir ka kat geo dv div ug uig sd snd"

unspaced() { one_of "$1" "$UNSPACED"; }
without_blanks() { unspaced "$SRC" || unspaced "$TGT"; }
has_case() { ! one_of "$1" "$CASELESS"; }

# What the campaign's training text leaves out. Words of a language without blanks cannot be counted.
campaign_rules() { # -> TRAIN_RULES
  TRAIN_RULES=(--empty drop --long drop --max-tokens 175)
  without_blanks || TRAIN_RULES+=(--max-ratio 9)
}

tokenise_set() { # FOLDER SET LANGUAGE
  run fairseq-xl data tokenize "$1/plain/$2.$3" --output "$1/tok/$2.$3" --language "$3" --processes "$THREADS"
}

truecase_set() { # FOLDER SET LANGUAGE
  if ! has_case "$3"; then
    run mkdir -p "$1/true"
    run cp "$1/tok/$2.$3" "$1/true/$2.$3"
    return
  fi
  run fairseq-xl data truecase "$1/tok/$2.$3" --output "$1/true/$2.$3" \
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
    ! has_case "$language" || run fairseq-xl data train-truecaser "$PREPARED/tok/train.$language" \
      --output "$PREPARED/truecaser.$language"
    for set in train valid test; do truecase_set "$PREPARED" "$set" "$language"; done
  done
}

mono_text() {
  run fairseq-xl data tokenize "$MONO" --output "$PREPARED/tok/mono.$TGT" --language "$TGT" \
    --processes "$THREADS"
  truecase_set "$PREPARED" mono "$TGT"
}

# Vectors of source words by their subwords, for words that the model does not know.
train_source_vectors() {
  local texts=("$PREPARED/true/train.$SRC")
  if [[ -n $SOURCE_MONO ]]; then
    run fairseq-xl data tokenize "$SOURCE_MONO" --output "$PREPARED/tok/mono.$SRC" --language "$SRC" \
      --processes "$THREADS"
    truecase_set "$PREPARED" mono "$SRC"
    texts+=("$PREPARED/true/mono.$SRC")
  fi
  run fairseq-xl vectors train "${texts[@]}" --output "$PREPARED/vectors/source.$SRC" --model skipgram --dim 100 \
    --epoch 10 --min-count 1 --max-subword 6 --buckets 400000 --seed 0 --threads "${VECTOR_THREADS:-$THREADS}"
  makes "$PREPARED/vectors/source.$SRC.bin"
}

of_pieces() { [[ $SUBWORDS != 0 && ($SUBWORD_SIDES == both || $1 == "$SRC") ]]; } # LANGUAGE

# SentencePiece on what was truecased: the way back is then the same as for words.
subword_texts() {
  local set language
  if [[ $JOINT == yes ]]; then
    learn_subwords "$SRC" "$PREPARED/true/train.$SRC" "$PREPARED/true/train.$TGT"
  else
    for language in "$SRC" "$TGT"; do
      ! of_pieces "$language" || learn_subwords "$language" "$PREPARED/true/train.$language"
    done
  fi
  for language in "$SRC" "$TGT"; do
    for set in train valid test; do encode_set "$PREPARED/true" "$TEXTS" "$set" "$language"; done
  done
}

subword_model() { # LANGUAGE
  [[ $JOINT == no ]] && echo "$TEXT_FOLDER/subwords.$1.model" || echo "$TEXT_FOLDER/subwords.model"
}

learn_subwords() { # LANGUAGE TEXT…
  run fairseq-xl data train-subwords "${@:2}" --output "$(subword_model "$1")" --size "$SUBWORDS" \
    --kind "$SUBWORD_KIND"
}

encode_set() { # FROM TO SET LANGUAGE
  if ! of_pieces "$4"; then # words, beside the pieces of the other side
    run mkdir -p "$2"
    run cp "$1/$3.$4" "$2/$3.$4"
    return
  fi
  run fairseq-xl data encode-subwords "$1/$3.$4" --output "$2/$3.$4" --model "$(subword_model "$4")"
}

subword_mono() { encode_set "$PREPARED/true" "$TEXTS" mono "$TGT"; }

# FOLDER.tmp takes the place of FOLDER; a run that reads the old one keeps its open files.
replace_folder() {
  run rm -rf "$1.old"
  [[ ! -d $1 ]] || run mv "$1" "$1.old"
  run mv "$1.tmp" "$1"
  makes "$1"
  run rm -rf "$1.old"
}

preprocess() {
  # fairseq-preprocess refuses dictionaries that are there already: a fresh folder, moved when complete
  run rm -rf "$UNITS_FOLDER/bin.tmp"
  logged "$UNITS_FOLDER/logs/preprocess.log" fairseq-preprocess --source-lang "$SRC" --target-lang "$TGT" \
    --trainpref "$TEXTS/train" --validpref "$TEXTS/valid" \
    --testpref "$TEXTS/test" --destdir "$UNITS_FOLDER/bin.tmp" --workers "$THREADS" "${LIMITS[@]}"
  replace_folder "$UNITS_FOLDER/bin"
}

train_vectors() {
  local texts=("$TARGET_TEXTS/train.$TGT")
  [[ -z $MONO ]] || texts+=("$TARGET_TEXTS/mono.$TGT")
  run fairseq-xl vectors train "${texts[@]}" --output "$TARGET_FOLDER/vectors/$TGT" --model skipgram \
    --dim "$DIM" --epoch "$VECTOR_EPOCHS" --min-count "$VECTOR_MIN_COUNT" \
    --max-subword "$VECTOR_SUBWORD" --buckets "$VECTOR_BUCKETS" --seed 0 \
    --threads "${VECTOR_THREADS:-$THREADS}"
  makes "$TARGET_FOLDER/vectors/$TGT.bin"
}

target_vectors() {
  local source=${VECTORS:-$TARGET_FOLDER/vectors/$TGT.bin} transform=()
  [[ -z $TRANSFORM ]] || read -ra transform <<<"$TRANSFORM"
  [[ -z $MIN_COVERAGE || -z $VECTORS ]] || transform+=(--min-coverage "$MIN_COVERAGE")
  run fairseq-xl vectors convert "$source" --output "$TARGET_VECTORS" --dict "$UNITS_FOLDER/bin/dict.$TGT.txt" \
    "${transform[@]}"
  makes "$TARGET_VECTORS"
}

make_lexicon() {
  run fairseq-xl data lexicon "$PREPARED/true/train.$SRC" "$PREPARED/true/train.$TGT" --output "$LEXICON"
}

prepare() {
  TARGET_VECTORS=$UNITS_FOLDER/vectors/target.$TGT.vec
  # Runs with other vectors or transforms share the prepared data, not the table.
  if [[ -n $VECTORS$TRANSFORM ]]; then
    TARGET_VECTORS=$UNITS_FOLDER/vectors/target.$TGT.$(
      printf '%s' "$(fingerprint "$VECTORS") $TRANSFORM" | sha256sum | cut -c1-8
    ).vec
  fi
  # fairseq's own models have no table, and that of a short softmax comes with its training
  [[ $LOSS != stock* && ($PREPARE_ONLY == no || $TARGET_EPOCHS == 0) ]] || TARGET_VECTORS=''
  STAMPS=$PREPARED/stamps
  locked "$PREPARED/lock" prepare_stages
  [[ -z $TEACHER ]] || locked "$DISTILLED/lock" distil
}

prepare_stages() {
  local corpus=truecase targets=truecase
  plain_stages
  stage tokenise plain tokenise_all
  stage truecase tokenise truecase_all
  if [[ $SUBWORDS != 0 ]]; then
    corpus=${IN_TEXT}texts
    stage "$corpus" truecase subword_texts
    ! of_pieces "$TGT" || targets=$corpus
  fi
  stage "${IN_UNITS}preprocess" "$corpus" preprocess "${LIMITS[@]}"
  [[ $REPLACE_UNK != lexicon ]] || stage lexicon truecase make_lexicon
  [[ -z $READ_UNKNOWN ]] || stage source_vectors truecase train_source_vectors "$(fingerprint "$SOURCE_MONO")"
  [[ -n $TARGET_VECTORS ]] || return 0
  if [[ -z $VECTORS ]]; then
    if [[ -n $MONO ]]; then
      stage mono truecase mono_text "$(fingerprint "$MONO")"
      ! of_pieces "$TGT" || stage "${IN_TEXT}mono" "mono $corpus" subword_mono
      targets+=" ${IN_TARGET}mono"
    fi
    stage "${IN_TARGET}vectors" "$targets" train_vectors "$DIM" "$VECTOR_EPOCHS" "$VECTOR_MIN_COUNT" \
      "$VECTOR_SUBWORD" "$VECTOR_BUCKETS"
    stage "$IN_UNITS$(basename "$TARGET_VECTORS")" "${IN_UNITS}preprocess ${IN_TARGET}vectors" \
      target_vectors "$TRANSFORM"
  else
    stage "$IN_UNITS$(basename "$TARGET_VECTORS")" "${IN_UNITS}preprocess" target_vectors "$TRANSFORM" \
      "$(fingerprint "$VECTORS")"
  fi
}
