# shellcheck shell=bash
# What question_matching.sh does before it trains: word vectors, repair, translation, label transfer, data directories.

# Everything in Spanish that the competition gave out, and what the user adds.
write_words() {
  local inputs=("$DATA/cikm_english_train.txt,2,4" "$DATA/cikm_spanish_train.txt,1,3")
  [[ ! -f $DATA/cikm_unlabel_spanish_train.txt ]] || inputs+=("$DATA/cikm_unlabel_spanish_train.txt,1")
  [[ ! -f $DATA/cikm_test_a.txt ]] || inputs+=("$DATA/cikm_test_a.txt,1,2")
  run fairseq-xl match words "${inputs[@]}" "${TEXTS[@]}" --output "$OUT/vectors/text"
}

# Few words: fewer buckets for subwords than fastText's two million lose nothing.
train_vectors_on() { # TEXT VECTORS
  run fairseq-xl vectors train "$OUT/vectors/$1" --output "$OUT/vectors/$2" --dim 300 --epoch 10 --min-count 2 \
    --buckets 200000 --threads 1 --seed 1
}
train_vectors() { train_vectors_on text own; }
train_mixed_vectors() { train_vectors_on text.mixed mixed; }

# Every question of training with the words of its translation between its own, each behind its language, and then all
# other text of either language. Words that translate each other stand side by side, and so come near each other in one
# space (Vulić & Moens 2016, https://doi.org/10.1613/jair.4986). The questions are too little text to align two spaces.
write_mixed_text() {
  local folder=$OUT/vectors english="$DATA/cikm_english_train.txt,1,3" spanish="$DATA/cikm_english_train.txt,2,4"
  run fairseq-xl match words "$english" --every-line --output "$folder/questions.en"
  run fairseq-xl match words "$spanish" --every-line --output "$folder/questions.es"
  ((${#ENGLISH_TEXTS[@]} == 0)) || run fairseq-xl match words "${ENGLISH_TEXTS[@]}" --output "$folder/text.en"
  [[ $DRY_RUN == yes ]] || mix_text "$folder"
}

mix_text() { # FOLDER
  {
    paste "$1/questions.en" "$1/questions.es" | LC_ALL=C sort -u | awk -F '\t' '{
      n = split($1, en, " "); m = split($2, es, " "); i = j = 1; line = ""
      while (i <= n || j <= m)
        line = line ((j > m || (i <= n && (2 * i - 1) * m <= (2 * j - 1) * n)) ? " en:" en[i++] : " es:" es[j++])
      print substr(line, 2)
    }'
    sed 's/[^ ][^ ]*/es:&/g' "$1/text"
    ((${#ENGLISH_TEXTS[@]} == 0)) || sed 's/[^ ][^ ]*/en:&/g' "$1/text.en"
  } >"$1/text.mixed.tmp"
  mv "$1/text.mixed.tmp" "$1/text.mixed"
}

fetch_vectors() {
  run fairseq-xl data fetch "$WIKIPEDIA" --output "$OUT/vectors/official.vec" \
    --otherwise "download it elsewhere and give its name with --embeddings"
}

# The sides' columns; the translations, which hold names as they are, tell what is no mistake.
repair_files() {
  local files=("$DATA/cikm_english_train.txt,columns=2+4,translations=1+3"
    "$DATA/cikm_spanish_train.txt,columns=1+3,translations=2+4")
  [[ ! -f $DATA/cikm_unlabel_spanish_train.txt ]] ||
    files+=("$DATA/cikm_unlabel_spanish_train.txt,columns=1,translations=2")
  [[ ! -f $DATA/cikm_test_a.txt ]] || files+=("$DATA/cikm_test_a.txt,columns=1+2")
  run fairseq-xl match repair-words "${files[@]}" --vectors "$SPANISH_VECTORS" --language es --output "$TEXT" \
    --changes "$TEXT/changes.tsv"
}

# English, tab, Spanish, as Tatoeba's lists are.
write_parallel() {
  local columns='{ print $en "\t" $es; print $(en + 2) "\t" $(es + 2) }'
  if [[ $DRY_RUN == yes ]]; then return; fi
  begin_in "$OUT/translation"
  {
    awk -F '\t' -v en=1 -v es=2 "$columns" "$DATA/cikm_english_train.txt"
    awk -F '\t' -v en=2 -v es=1 "$columns" "$DATA/cikm_spanish_train.txt"
  } | LC_ALL=C sort -u >"$OUT/translation/spa-eng.tsv"
  tr '\t' '\n' <"$DATA/cikm_test_a.txt" | LC_ALL=C sort -u >"$OUT/translation/questions.es"
  makes "$OUT/translation/spa-eng.tsv" "$OUT/translation/questions.es"
}

# A finished run refuses other data: other pairs get a run of their own.
translation_run() { printf 'questions.%s' "$(fingerprint "$OUT/translation/spa-eng.tsv")"; }

train_translation() {
  run bash "$ROOT/recipes/tatoeba.sh" --data "$OUT/translation/spa-eng.tsv" --src es --tgt en --held-out 300 \
    --epochs 30 --out "$OUT/translation" --name "$(translation_run)" --diagnose no
  makes "$OUT/translation/runs/$(translation_run)/model"
}

translate_questions() {
  run fairseq-xl translate text "$OUT/translation/runs/$(translation_run)/model" --input "$OUT/translation/questions.es" \
    --output "$OUT/translation/questions.en"
  if [[ $DRY_RUN == yes ]]; then return; fi
  # An unknown word may be what the question is about: such translations would match each other.
  paste "$OUT/translation/questions.es" "$OUT/translation/questions.en" |
    awk -F '\t' 'index($2, "<unk>") == 0' >"$OUT/translation/questions.tsv.tmp"
  mv "$OUT/translation/questions.tsv.tmp" "$OUT/translation/questions.tsv"
  makes "$OUT/translation/questions.tsv"
}

transfer_labels() {
  local sentences=("${TRANSLATED[@]}")
  [[ $TRANSLATE == no ]] || sentences+=("$OUT/translation/questions.tsv")
  [[ ! -f $TEXT/cikm_unlabel_spanish_train.txt ]] || sentences+=("$TEXT/cikm_unlabel_spanish_train.txt")
  [[ ${#sentences[@]} == 0 ]] || sentences=(--sentences "${sentences[@]}")
  run fairseq-xl match transfer-labels --labelled "$TEXT/cikm_english_train.txt,left=1,right=3,label=5" \
    --from-pairs "$TEXT/cikm_english_train.txt,left=2,right=4,label=none,left_translation=1,right_translation=3" \
    "${sentences[@]}" --exclude "$TEXT/cikm_spanish_train.txt,left=1,right=3,label=none" --exclude-sentences \
    --output "$OUT/transferred/$KEY.tsv"
}

# With both languages, what tells `match prepare` a file's Spanish words from English ones, and its translations.
spanish() { # [LEFT_TRANSLATION RIGHT_TRANSLATION]
  [[ $LANGUAGES == both ]] || return 0
  printf ',languages=es+es'
  [[ $# == 0 ]] || printf ',left_translation=%s,right_translation=%s,translation_languages=en+en' "$1" "$2"
}

prepare_data() {
  local sources=("$TEXT/cikm_english_train.txt,left=2,right=4,label=5$(spanish 1 3)"
    "$TEXT/cikm_spanish_train.txt,left=1,right=3,label=5,split=test$(spanish 2 4)") also=()
  [[ $TRANSFER == no ]] ||
    sources+=("$OUT/transferred/$KEY.tsv,left=left,right=right,label=label$(spanish left_translation right_translation)")
  [[ $LANGUAGES == es ]] ||
    sources+=("$TEXT/cikm_english_train.txt,left=1,right=3,label=5,languages=en+en,split=train_only")
  [[ ! -f $TEXT/cikm_test_a.txt ]] || also=(--also "$TEXT/cikm_test_a.txt,label=none$(spanish)")
  [[ $CHAINS == no ]] || also+=(--chains)
  run fairseq-xl match prepare --output "$PREPARED" "${sources[@]}" "${also[@]}" --vectors "$VECTORS_FILE" \
    --folds "$FOLDS" --leaks "$LEAKS"
  makes "$PREPARED"
}

show_statistics() {
  logged "$PREPARED.statistics.md" fairseq-xl match statistics "$TEXT/cikm_spanish_train.txt,left=1,right=3,label=5" \
    "$TEXT/cikm_english_train.txt,left=2,right=4,label=5" --vectors "$SPANISH_VECTORS"
  [[ $DRY_RUN == yes ]] || cat "$PREPARED.statistics.md" >&2
}

prepare_stages() {
  local raw before given=$VECTORS
  raw=$(fingerprint "$DATA"/cikm_*.txt "${TEXTS[@]}")
  case $VECTORS in
    own)
      stage vectors/text '' write_words "$raw"
      stage vectors/own vectors/text train_vectors
      VECTORS_FILE=$OUT/vectors/own.$([[ $UNKNOWN == subwords ]] && echo bin || echo vec) before=vectors/own
      ;;
    official)
      stage vectors/official '' fetch_vectors
      VECTORS_FILE=$OUT/vectors/official.vec before=vectors/official
      ;;
    *) VECTORS_FILE=$VECTORS before='' given=$(fingerprint "$VECTORS") ;;
  esac
  TEXT=$DATA SPANISH_VECTORS=$VECTORS_FILE
  if [[ $UNKNOWN == repair ]]; then
    TEXT=$OUT/repaired/$VECTORS_KEY
    stage "repaired/$VECTORS_KEY" "$before" repair_files "$raw" "$given"
    before="repaired/$VECTORS_KEY"
  fi
  if [[ $TRANSLATE == yes ]]; then
    stage translation/text '' write_parallel "$raw"
    stage translation/model translation/text train_translation
    stage translation/questions translation/model translate_questions
    before+=' translation/questions'
  fi
  if [[ $TRANSFER == yes ]]; then
    stage "transferred/$KEY" "$before" transfer_labels "$raw" "$(fingerprint "${TRANSLATED[@]}")"
    before="transferred/$KEY"
  fi
  if [[ $LANGUAGES == both ]]; then
    VECTORS_FILE=$OUT/vectors/mixed.${VECTORS_FILE##*.}
    stage vectors/text.mixed vectors/text write_mixed_text "$raw" "$(fingerprint "${ENGLISH_TEXTS[@]}")"
    stage vectors/mixed vectors/text.mixed train_mixed_vectors
    before+=' vectors/mixed'
  fi
  stage "prepared/$PREPARED_KEY" "$before" prepare_data "$raw" "$FOLDS" "$LEAKS" "$given"
  stage "statistics/$PREPARED_KEY" "prepared/$PREPARED_KEY" show_statistics
}
