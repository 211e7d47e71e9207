# shellcheck shell=bash
# What semantic_similarity.sh refuses of its command line, and what it makes of the rest.

# Of KEY=VALUE or KEY:VALUE words, the values of one key, a line each.
values_of() { # KEY SEPARATOR WORD…
  local key=$1 separator=$2 word
  shift 2
  for word in "$@"; do
    [[ $word != "$key$separator"* ]] || printf '%s\n' "${word#"$key$separator"}"
  done
}

need_language() { # OPTION WORD SEPARATOR
  local code=${2%%"$3"*}
  [[ $2 == ?*"$3"?* && " ${CODES[*]} " == *" $code "* ]] || fail "$1 is '$2': begin with one of ${CODES[*]} and '$3'"
}

# The corpora and their names: one a language, or one a partition. CRAWLED ones are made, the others are there.
check_corpora() {
  local word code
  CRAWLED=()
  for code in "${OTHERS[@]}"; do [[ -n $(values_of "$code" = "${READY[@]}") ]] || CRAWLED+=("$code"); done
  ((${#CRAWLED[@]} > 0 || ${#BASES[@]} + ${#PARTITIONS[@]} == 0)) ||
    fail "no language is left for --base or --partition: each has its --corpus"
  if ((${#PARTITIONS[@]} > 0)); then
    [[ ${#BASES[@]} == 0 ]] || fail "--base and --partition exclude each other: name every site with --partition"
    check_partitions
  else
    [[ ${#BASES[@]} -gt 0 || ${#CRAWLED[@]} == 0 ]] ||
      fail "--base is missing: give the address where the crawl begins, or a folder of HTML"
  fi
  CORPORA=("${CRAWLED[@]}")
  for word in "${READY[@]}"; do
    need_language --corpus "$word" =
    need_folder_name --corpus "${word#*=}"
    code=${word%%=*}
    ! one_of "$code" "${CORPORA[*]}" || fail "--corpus names $code twice: give one folder a language"
    need_file "${word#*=}/train.tsv" "table of pairs,"
    need_file "${word#*=}/test.tsv" "table of pairs,"
    CORPORA+=("$code")
  done
}

check_partitions() { # -> CRAWLED
  local word code wanted=("${CRAWLED[@]}")
  CRAWLED=()
  for word in "${PARTITIONS[@]}"; do
    [[ $word =~ ^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+=. && " ${wanted[*]} " == *" ${word%%.*} "* ]] ||
      fail "--partition is '$word': write LANG.DOMAIN=URL with one of ${wanted[*]}"
    one_of "${word%%=*}" "${CRAWLED[*]}" || CRAWLED+=("${word%%=*}")
  done
  for code in "${wanted[@]}"; do
    [[ " ${CRAWLED[*]}" == *" $code."* ]] || fail "--partition names no site of $code: give one, or take $code out of --languages"
  done
}

# Vectors of a language come from the lines of websites, from --text, or are ready. Every website has the first language.
every_language_has_vectors() {
  local code site crawled=()
  ((${#CRAWLED[@]} == 0)) || crawled=("$FIRST")
  for site in "${CRAWLED[@]}"; do crawled+=("$(language_of "$site")"); done
  for code in "${CODES[@]}"; do
    [[ $ONE_SPACE == no || -n $(values_of "$code" = "${VECTORS[@]}") ]] ||
      fail "--one-space needs --vectors of every language: $code has none"
    one_of "$code" "${crawled[*]}" || [[ -n $(values_of "$code" = "${VECTORS[@]}" "${TEXTS[@]}") ]] ||
      fail "there is no text for word vectors of $code: give --text $code=FILE or --vectors $code=FILE"
  done
}

check_settings() {
  check_languages
  check_corpora
  check_making
  check_word_vectors
  check_sets
  check_model
  check_folds
  check_paraphrases
  check_graded
}

check_languages() { # -> CODES FIRST OTHERS
  local word
  [[ -n $OUT ]] || fail "--out is missing: name the folder for corpora, checkpoints and tables"
  need_folder_name --out "$OUT"
  read -ra CODES <<<"$LANGUAGES"
  ((${#CODES[@]} > 1 || (${#CODES[@]} == 1 && ${#READY[@]} > 0))) ||
    fail "--languages is '$LANGUAGES': give two codes or more, such as 'en fr'"
  for word in "${CODES[@]}"; do need_code --languages "$word"; done
  FIRST=${CODES[0]} OTHERS=("${CODES[@]:1}")
}

# The settings of `fairseq-xl corpus`.
check_making() {
  local word
  for word in "${OWN_SETTINGS[@]}"; do
    one_of "${word%%:*}" "${CORPORA[*]}" || need_language --set-for "$word" :
    [[ -z $(values_of "${word%%:*}" = "${READY[@]}") ]] || fail "--set-for is '$word': ${word%%:*} has its --corpus, which is not made anew"
    [[ ${word#*:} != negatives.folds=* ]] ||
      fail "--set-for $word: all corpora have the same number of folds; give --set negatives.folds=N"
  done
  for word in "${SETTINGS[@]}" "${OWN_SETTINGS[@]}"; do
    ((${#CRAWLED[@]} > 0)) || [[ $word == negatives.folds=* ]] ||
      fail "'$word' is a setting of making corpora, and each language has its --corpus: leave it out"
  done
}

check_word_vectors() { # -> REFINE
  local word
  for word in "${TEXTS[@]}"; do
    need_language --text "$word" =
    need_file "${word#*=}" "text"
  done
  for word in "${DICTIONARIES[@]}"; do
    need_language --dictionary "$word" =
    [[ ${word%%=*} != "$FIRST" ]] || fail "--dictionary is '$word': it translates another language's words into $FIRST, the first"
    need_file "${word#*=}" "dictionary"
  done
  for word in "${VECTORS[@]}"; do
    need_language --vectors "$word" =
    need_file "${word#*=}" "file of word vectors,"
  done
  for word in "${TEXTS[@]%%=*}"; do
    [[ -z $(values_of "$word" = "${VECTORS[@]}") ]] || fail "--text $word=FILE has no effect beside --vectors $word=FILE: leave one out"
  done
  every_language_has_vectors
  [[ $ONE_SPACE == no || -z $REFINE && ${#DICTIONARIES[@]} == 0 ]] ||
    fail "--dictionary and --refine turn vectors, which --one-space leaves as they are: leave them out"
  REFINE=${REFINE:-5}
  need_number --refine "$REFINE"
}

check_sets() { # -> SETS
  local word
  for word in "${OWN_EPOCHS[@]}"; do
    [[ " ${CORPORA[*]} joint " == *" ${word%%:*} "* ]] ||
      fail "--epochs-for is '$word': begin with one of ${CORPORA[*]} joint and ':'"
    need_count --epochs-for "${word#*:}"
  done
  if ((${#SETS[@]} == 0)); then
    SETS=("${CORPORA[@]}")
    ((${#CORPORA[@]} == 1)) || SETS+=(joint)
  fi
  for word in "${SETS[@]}"; do
    [[ " ${CORPORA[*]} joint " == *" $word "* ]] || fail "--sets has '$word': choose from ${CORPORA[*]} joint"
  done
  for word in "${OWN_EPOCHS[@]%%:*}"; do
    one_of "$word" "${SETS[*]}" || fail "--epochs-for names $word, which --sets leaves out"
  done
}

check_model() { # -> MODEL, its name in folders, TRAIN and TUNING
  local rate
  need_name --system "$SYSTEM"
  if [[ -n $SENTENCE_ENCODER ]]; then
    need_name --sentence-encoder "$SENTENCE_ENCODER"
    [[ $SYSTEM == infersent ]] || fail "--sentence-encoder is for infersent, not $SYSTEM: leave it out"
    TUNING+=(--reader "$SENTENCE_ENCODER")
  fi
  [[ $CHOOSE_ON =~ ^(other|same)$ ]] || fail "--choose-on is '$CHOOSE_ON': choose other or same"
  [[ -n ${RATES[$RATE]:-} ]] || fail "--rate is '$RATE': choose clipped, halving or once"
  MODEL=$SYSTEM${SENTENCE_ENCODER:+.$SENTENCE_ENCODER}
  [[ $RATE == clipped ]] || MODEL+=.$RATE
  [[ $CHOOSE_ON == other ]] || MODEL+=.same
  read -ra rate <<<"${RATES[$RATE]}"
  TRAIN+=("${rate[@]}")
  need_count --epochs "$EPOCHS"
  need_seed --seed "$SEED"
}

check_folds() { # -> FOLD_COUNT, as many as the corpora have, and FOLDS
  local fold
  FOLD_COUNT=$(printf '%s\n' "${SETTINGS[@]}" | sed -n 's/^negatives\.folds=//p' | tail -n 1)
  FOLD_COUNT=${FOLD_COUNT:-10}
  need_count '--set negatives.folds' "$FOLD_COUNT"
  FOLDS=${FOLDS:-$(seq -s ' ' 0 $((FOLD_COUNT - 1)))}
  for fold in $FOLDS; do
    need_number --folds "$fold"
    ((fold < FOLD_COUNT)) || fail "--folds has $fold, and the corpora have folds 0 to $((FOLD_COUNT - 1))"
  done
}

# --paraphrases, and the options that need it.
check_paraphrases() { # -> STARTS PARAPHRASE_EPOCHS
  local word
  for word in "${STARTS[@]}"; do
    [[ " ${SETS[*]} " == *" $word "* ]] || fail "--transfer-from has '$word': choose from ${SETS[*]}"
  done
  if [[ -z $PARAPHRASES ]]; then
    [[ -z $PARAPHRASE_TEST ]] || fail "--paraphrase-test needs --paraphrases to train on"
    [[ ${#SUPPLEMENTS[@]} == 0 ]] || fail "--supplement-with needs --paraphrases to supplement"
    [[ ${#STARTS[@]} == 0 ]] || fail "--transfer-from needs --paraphrases to train on"
    [[ -z $PARAPHRASE_EPOCHS ]] || fail "--paraphrase-epochs needs --paraphrases to train on"
    return
  fi
  for word in "${SUPPLEMENTS[@]}"; do
    [[ " ${CORPORA[*]} joint " == *" $word "* ]] || fail "--supplement-with has '$word': choose from ${CORPORA[*]} joint"
  done
  need_file "${PARAPHRASES%%,*}" "file of paraphrases,"
  [[ -z $PARAPHRASE_TEST ]] || need_file "${PARAPHRASE_TEST%%,*}" "file of paraphrases,"
  ((${#STARTS[@]} > 0)) || STARTS=("${SETS[-1]}")
  PARAPHRASE_EPOCHS=${PARAPHRASE_EPOCHS:-$EPOCHS}
  need_count --paraphrase-epochs "$PARAPHRASE_EPOCHS"
}

check_graded() {
  local word
  for word in "${GRADED[@]}"; do
    need_language --sts "$word" =
    word=${word#*=}
    need_file "${word%%,*}" "file of graded similarities,"
  done
}
