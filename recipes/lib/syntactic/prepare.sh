# shellcheck shell=bash
# What syntactic.sh does before it trains: treebanks, taggers, held-out groups, data directories.

GOLD='en id ko pt' # treebanks with enough sentences of the same tags
GOLD_ONLY=pt # no text in Tatoeba's files: evaluated on groups of its treebank

declare -A TATOEBA=([de]=deu [es]=spa [fr]=fra [id]=ind [ko]=kor [nl]=nld [zh]=cmn)
# What a tagger is trained on: every file in these folders.
declare -A TREEBANKS=(
  [en]=UD_English-EWT [de]='UD_German-GSD UD_German-LIT' [es]=UD_Spanish-GSD [nl]=UD_Dutch-Alpino
  [ko]=UD_Korean-GSD [zh]=UD_Chinese-GSD [fr]=UD_French-GSD [id]=UD_Indonesian-GSD [pt]=UD_Portuguese-Bosque
)
# The same sentences in each language, with gold tags: for tests only.
declare -A PARALLEL=(
  [en]=UD_English-PUD [de]=UD_German-PUD [es]=UD_Spanish-PUD [ko]=UD_Korean-PUD [zh]=UD_Chinese-PUD
  [fr]=UD_French-PUD [id]=UD_Indonesian-PUD [pt]=UD_Portuguese-PUD
)
# Downloaded: FOLDER/FILE of each treebank; newest releases have training files where older ones had none.
declare -A FILES=(
  [UD_English-EWT]='en_ewt-ud-train en_ewt-ud-dev' [UD_German-GSD]='de_gsd-ud-train de_gsd-ud-dev'
  [UD_German-LIT]=de_lit-ud-test [UD_Spanish-GSD]='es_gsd-ud-train es_gsd-ud-dev'
  [UD_Dutch-Alpino]='nl_alpino-ud-train nl_alpino-ud-dev' [UD_Korean-GSD]='ko_gsd-ud-train ko_gsd-ud-dev'
  [UD_Chinese-GSD]='zh_gsd-ud-train zh_gsd-ud-dev' [UD_French-GSD]='fr_gsd-ud-train fr_gsd-ud-dev'
  [UD_Indonesian-GSD]='id_gsd-ud-train id_gsd-ud-dev' [UD_Portuguese-Bosque]='pt_bosque-ud-train pt_bosque-ud-dev'
  [UD_English-PUD]=en_pud-ud-test [UD_German-PUD]=de_pud-ud-test [UD_Spanish-PUD]=es_pud-ud-test
  [UD_Korean-PUD]=ko_pud-ud-test [UD_Chinese-PUD]=zh_pud-ud-test [UD_French-PUD]=fr_pud-ud-test
  [UD_Indonesian-PUD]=id_pud-ud-test [UD_Portuguese-PUD]=pt_pud-ud-test
)
# OPUS's names of the files of English and a language, of which it writes the alphabetically first in front.
declare -A SUBTITLE_PAIRS=(
  [de]=de-en [es]=en-es [fr]=en-fr [id]=en-id [ko]=en-ko [nl]=en-nl [zh]=en-zh_cn
)
SUBTITLES_URL=https://object.pouta.csc.fi/OPUS-OpenSubtitles/v2018/moses
TATOEBA_URL=https://downloads.tatoeba.org/exports
TREEBANK_URL=https://raw.githubusercontent.com/UniversalDependencies

# Every file of the folders of a language's treebanks.
treebank_files() { # LANGUAGE
  local folder name found
  for folder in ${TREEBANKS[$1]}; do
    if [[ -n $DATA ]]; then
      found=$(compgen -G "$DATA/ud/$folder/*.conllu") || fail "there is no treebank $DATA/ud/$folder/*.conllu for '$1'"
      sort <<<"$found"
    else
      for name in ${FILES[$folder]}; do echo "$OUT/data/$folder/$name.conllu"; done
    fi
  done
}

# The language's part of the parallel treebanks; nothing where there is none.
parallel_file() { # LANGUAGE
  local folder=${PARALLEL[$1]:-}
  [[ -n $folder ]] || return 0
  if [[ -n $DATA ]]; then
    compgen -G "$DATA/ud/$folder/*.conllu" || true
  else
    echo "$OUT/data/$folder/${FILES[$folder]}.conllu"
  fi
}

download() {
  local name folder file
  for name in sentences links; do
    run fairseq-xl data fetch "$TATOEBA_URL/$name.tar.bz2" --output "$OUT/data/$name.tar.bz2" \
      --unpack "$OUT/data/$name" --otherwise "give a folder of files with --data"
  done
  for folder in "${!FILES[@]}"; do
    for file in ${FILES[$folder]}; do
      run fairseq-xl data fetch "$TREEBANK_URL/$folder/master/$file.conllu" --output "$OUT/data/$folder/$file.conllu" \
        --otherwise "give a folder of files with --data"
    done
  done
}

download_subtitles() {
  local language name
  for language in $LANGUAGES $UNSEEN; do
    name=${SUBTITLE_PAIRS[$language]:-}
    [[ -n $name ]] || continue
    run fairseq-xl data fetch "$SUBTITLES_URL/$name.txt.zip" --output "$OUT/data/subtitles/$name.txt.zip" \
      --unpack "$OUT/data/subtitles/$name" --otherwise "give files that you have with --subtitles L-L=PREFIX"
  done
}

# The same for every call of prepare: INPUTS, which are all of the corpus BASE. The training adds to a copy of it.
inputs() {
  local language name prefix
  BASE=$OUT/base.sqlite INPUTS=()
  if [[ -n $DATA ]]; then
    for language in $LANGUAGES $UNSEEN; do
      [[ $language == en ]] || INPUTS+=(--pairs "en-$language=$DATA/mt/tatoeba/${TATOEBA[$language]}-eng.tsv")
    done
  else
    # shellcheck disable=SC2206
    INPUTS+=(--tatoeba "$OUT/data/sentences/sentences.csv" "$OUT/data/links/links.csv" --languages $LANGUAGES $UNSEEN)
  fi
  for name in $SUBTITLES; do
    [[ $name == download ]] || INPUTS+=(--opensubtitles "$name")
  done
  [[ $SUBTITLES == download ]] || return 0
  for language in $LANGUAGES $UNSEEN; do
    name=${SUBTITLE_PAIRS[$language]:-}
    [[ -n $name ]] || continue
    prefix=$OUT/data/subtitles/$name/OpenSubtitles.$name
    name=${name#en-}
    INPUTS+=(--opensubtitles "en-$language=$prefix.en,$prefix.${name%-en}")
  done
}

# A corpus only grows, so other text needs a new one. The tags of the old one's sentences are also in tags.sqlite.
read_text() {
  run rm -f "$BASE" "$BASE-journal" "$STAMPS/tag"
  run fairseq-xl embed prepare --corpus "$BASE" "${INPUTS[@]}" --output "$OUT/preprocessed" --until read
  makes "$BASE"
}

# A small treebank teaches a tagger few words; vectors of the language's text teach it the others.
train_vectors() {
  local files
  mapfile -t files < <(treebank_files "$L")
  vectors_of "$OUT/vectors/$L" "$BASE" "${files[@]}"
}

vectors_of() { # PREFIX TEXT… OPTION…
  local prefix=$1 subwords=(--min-subword 2 --max-subword 5)
  [[ $L != zh ]] || subwords=(--max-subword 0) # its pieces are characters
  run fairseq-xl embed pieces "${@:2}" --language "$L" --output "$prefix.pieces"
  fasttext_vectors "$prefix.pieces" "$prefix" "${subwords[@]}"
  makes "$prefix.vec"
}

fasttext_vectors() { # TEXT PREFIX OPTION…
  run fairseq-xl vectors train "$1" --output "$2" --dim 100 --epoch "$VECTOR_EPOCHS" --min-count 1 --window 3 \
    --buckets 200000 "${@:3}" --threads 1 --seed "$SEED" --quiet
}

# Treebanks are in traditional characters, Tatoeba is in both.
simplify() {
  local file
  run mkdir -p "$OUT/simplified"
  while read -r file; do
    run uconv -f utf-8 -t utf-8 -x Traditional-Simplified "$file" -o "$OUT/simplified/$(basename "$file")"
  done < <(treebank_files zh)
}

train_tagger() {
  local files test=() names=() file
  mapfile -t files < <(treebank_files "$L")
  [[ -z $(parallel_file "$L") ]] || test=(--test "$(parallel_file "$L")")
  if [[ $L == zh ]]; then
    while read -r file; do files+=("$OUT/simplified/$(basename "$file")"); done < <(treebank_files zh)
  fi
  [[ $L == en ]] || names=(--names "$BASE") # Tom and Mary, of whom treebanks know nothing
  logged "$OUT/logs/tagger.$L.log" fairseq-xl embed train-tagger "${files[@]}" --language "$L" \
    --vectors "$OUT/vectors/$L.vec" --epochs "$TAGGER_EPOCHS" --seed "$SEED" "${names[@]}" "${test[@]}" \
    --output "$OUT/taggers/$L"
  makes "$OUT/taggers/$L"
}

taggers() { # -> TAGGERS
  local language
  TAGGERS=()
  for language in $LANGUAGES $UNSEEN; do TAGGERS+=(--tagger "$language=$OUT/taggers/$language"); done
}

tag() {
  taggers
  run fairseq-xl embed prepare --corpus "$BASE" "${INPUTS[@]}" --output "$OUT/preprocessed" "${TAGGERS[@]}" \
    --processes "$THREADS" --until tag
}

# Of Korean all groups are kept, as in the paper, for there are few. Those of languages that are left out now go.
build_sets() {
  local files all=()
  run rm -rf "$OUT/eval" "$OUT/gold" "$STAMPS"/gold.*
  [[ " $LANGUAGES $UNSEEN " != *' ko '* ]] || all=(--all ko)
  # shellcheck disable=SC2086
  run fairseq-xl embed build-eval "$BASE" --languages $LANGUAGES $UNSEEN --output "$OUT/eval" "${all[@]}" \
    --seed "$SEED" --dev "$DEV"
  for L in $GOLD_ONLY; do
    mapfile -t files < <(treebank_files "$L")
    run fairseq-xl embed build-eval "${files[@]}" --languages "$L" --all "$L" --output "$OUT/eval"
  done
}

gold_languages() {
  local language
  for language in $LANGUAGES $UNSEEN $GOLD_ONLY; do
    [[ " $GOLD " != *" $language "* ]] || echo "$language"
  done
}

# Groups by gold tags, for which no tagger answers, of four tags or more: of fewer, length alone tells most apart.
build_gold() {
  local files
  mapfile -t files < <(treebank_files "$L")
  run fairseq-xl embed build-eval "${files[@]}" --languages "$L" --all "$L" --least 3 --min-tags 4 --output "$OUT/gold"
}

# What must not be trained on: every held-out group, and the treebanks that tests use.
excluded() {
  local language
  for language in $LANGUAGES $UNSEEN $GOLD_ONLY; do echo "$OUT/eval/$language.tsv"; done
  for language in $(gold_languages); do echo "$OUT/gold/$language.tsv"; done
  if [[ $DEV != 0 ]]; then
    for language in $LANGUAGES $UNSEEN; do echo "$OUT/eval/dev/$language.tsv"; done
  fi
  for language in "${!PARALLEL[@]}"; do parallel_file "$language"; done
}

prepare() { # FOLDER OPTION…
  local exclude
  mapfile -t exclude < <(excluded | sort)
  taggers
  run fairseq-xl embed prepare --output "$1" --corpus "$OUT/corpus.sqlite" "${INPUTS[@]}" "${TAGGERS[@]}" \
    --exclude "${exclude[@]}" --seed "$SEED" "${@:2}"
}

# Pairs and sentences beyond Tatoeba's, of which no group is held out: EXTRA, and the languages they bring: SOURCES.
extra() {
  local file language
  EXTRA=() SOURCES=$LANGUAGES
  if [[ -n $MORE ]]; then
    for file in "$MORE"/en-*.tsv; do
      language=$(basename "$file" .tsv)
      language=${language#en-}
      # Languages that are to be unseen stay so.
      if [[ " $UNSEEN " == *" $language "* ]]; then continue; fi
      EXTRA+=(--pairs "en-$language=$file")
      [[ " $SOURCES " == *" $language "* ]] || SOURCES+=" $language"
    done
  fi
  if [[ $OWN_TAGS == yes ]]; then
    for language in $LANGUAGES; do
      while read -r file; do EXTRA+=(--monolingual "$language=$file"); done < <(treebank_files "$language")
    done
    # shellcheck disable=SC2206
    EXTRA+=(--own-tags $LANGUAGES)
  fi
}

prepare_training() {
  extra
  # SQLite would undo in the new file what the journal of a killed call says.
  run rm -f "$OUT/corpus.sqlite-journal"
  joined "$OUT/corpus.sqlite" "$BASE"
  # shellcheck disable=SC2086
  prepare "$OUT/preprocessed" --sources $SOURCES --targets $LANGUAGES --vocabulary "$VOCABULARY" "${EXTRA[@]}"
}

# Of all languages' pieces together, for the encoder to begin from.
train_piece_vectors() {
  run fairseq-xl embed source-pieces "$OUT/preprocessed" --output "$OUT/pieces.txt"
  fasttext_vectors "$OUT/pieces.txt" "$OUT/pieces" --min-subword 2 --max-subword 5
  makes "$OUT/pieces.bin"
}

# Vectors for the baseline that averages them: no tagger saw them, and they saw no held-out sentence.
train_words() {
  local exclude text=("$OUT/corpus.sqlite")
  mapfile -t exclude < <(excluded | sort)
  if [[ " $GOLD_ONLY " == *" $L "* ]]; then mapfile -t text < <(treebank_files "$L"); fi
  vectors_of "$OUT/words/$L" "${text[@]}" --exclude "${exclude[@]}"
}

prepare_few() {
  # shellcheck disable=SC2086
  prepare "$OUT/few" --sources $UNSEEN --targets en "$SECOND" --like "$OUT/preprocessed"
}

# What is read from --data, by its content.
fingerprint_pairs() {
  local language files=()
  for language in $LANGUAGES $UNSEEN; do
    [[ -z $DATA || $language == en ]] || files+=("$DATA/mt/tatoeba/${TATOEBA[$language]}-eng.tsv")
  done
  fingerprint "${files[@]}"
}

fingerprint_subtitles() {
  local pair files=()
  [[ -n $SUBTITLES && $SUBTITLES != download ]] || return 0
  for pair in $SUBTITLES; do
    printf '%s ' "${pair%%=*}"
    files+=("${pair#*=}".*)
  done
  fingerprint "${files[@]}"
}

fingerprint_more() {
  [[ -n $MORE ]] || return 0
  (cd "$MORE" && printf '%s ' en-*.tsv) # the languages are in their names
  fingerprint "$MORE"/en-*.tsv
}

# The files of encoders as --beside names them: LABEL=FILE, LABEL=KIND:FILE, where {name} stands for any text.
fingerprint_encoders() { # LABEL=ENCODER…
  local encoder file files
  for encoder in "$@"; do
    file=$(sed 's/{[^}]*}/*/g' <<<"${encoder#*=}")
    mapfile -t files < <(compgen -G "$file"; compgen -G "${file#*:}")
    fingerprint "${files[@]}"
  done
}

fingerprint_treebanks() { # LANGUAGE
  local files
  [[ -n $DATA ]] || return 0
  mapfile -t files < <(treebank_files "$1"; parallel_file "$1")
  fingerprint "${files[@]}"
}
