# shellcheck shell=bash
# What semantic_similarity.sh does before it trains: corpora, word vectors, data directories.

project() { printf '%s/corpus/%s-%s' "$OUT" "$FIRST" "$1"; }

language_of() { printf '%s' "${1%%.*}"; } # LANG or LANG.DOMAIN

corpus_settings() { # of CORPUS -> CORPUS_BASES CORPUS_SET
  local language
  language=$(language_of "$CORPUS")
  CORPUS_BASES=("${BASES[@]}")
  mapfile -t CORPUS_SET < <(values_of "$language" : "${OWN_SETTINGS[@]}")
  if [[ $CORPUS != "$language" ]]; then
    mapfile -t CORPUS_BASES < <(values_of "$CORPUS" = "${PARTITIONS[@]}")
    mapfile -t -O "${#CORPUS_SET[@]}" CORPUS_SET < <(values_of "$CORPUS" : "${OWN_SETTINGS[@]}")
  fi
  # The last of several counts: the user's own encoder goes before ours.
  CORPUS_SET=(--set "negatives.encoder=vectors:$OUT/vectors/$FIRST.vec" "${SETTINGS[@]}" "${CORPUS_SET[@]}")
}

# Those of later steps must not make the lines anew, nor the vectors that are trained on them.
settings_of_lines() {
  printf '%s\n' "${CORPUS_SET[@]}" | grep -Ev '^(topics|negatives|export)\.'
}

make_lines() {
  local folder made_from
  folder=$(project "$CORPUS")
  made_from=$(printf '%s\n' "${CORPUS_BASES[@]}")
  if [[ -f $folder/corpus.yaml ]]; then
    [[ $(<"$folder/bases.txt") == "$made_from" ]] ||
      fail "$folder has the pages of another site, $(paste -sd ' ' "$folder/bases.txt"): name another --out, or remove it"
  else
    run mkdir -p "$folder"
    [[ $DRY_RUN == yes ]] || printf '%s\n' "$made_from" >"$folder/bases.txt"
    run fairseq-xl corpus init --project "$folder" --languages "$FIRST" "$(language_of "$CORPUS")" --base "${CORPUS_BASES[@]}"
  fi
  run fairseq-xl corpus run --project "$folder" --last align "${CORPUS_SET[@]}"
}

make_pairs() {
  run fairseq-xl corpus run --project "$(project "$CORPUS")" --first topics "${CORPUS_SET[@]}"
}

# All lines of the site in a language, and what the user adds; written as pair classifiers read them.
train_vectors() {
  local inputs=() other more ready
  mapfile -t ready < <(values_of "$CODE" = "${VECTORS[@]}")
  if ((${#ready[@]} > 0)); then
    run fairseq-xl vectors convert "${ready[-1]}" --output "$OUT/vectors/$CODE.vec"
    return
  fi
  for other in "${CRAWLED[@]}"; do
    [[ $CODE != "$FIRST" && $CODE != "$(language_of "$other")" ]] || inputs+=("$(project "$other")/extract.$CODE.txt")
  done
  mapfile -t more < <(values_of "$CODE" = "${TEXTS[@]}")
  run fairseq-xl match words "${inputs[@]}" "${more[@]}" --output "$OUT/vectors/$CODE.txt"
  run fairseq-xl vectors train "$OUT/vectors/$CODE.txt" --output "$OUT/vectors/$CODE" --dim 300 --epoch 10 \
    --min-count 2 --buckets 200000 --threads 1 --seed 1
}

join_vectors() {
  local other seed dictionary tables=()
  if [[ $ONE_SPACE == yes ]]; then
    for other in "${CODES[@]}"; do tables+=("$other=$OUT/vectors/$other.vec"); done
    run fairseq-xl vectors join "${tables[@]}" --output "$OUT/vectors/joined.vec"
    return
  fi
  if ((${#OTHERS[@]} == 0)); then
    run fairseq-xl vectors join "$FIRST=$OUT/vectors/$FIRST.vec" --output "$OUT/vectors/joined.vec"
    return
  fi
  for other in "${OTHERS[@]}"; do
    mapfile -t dictionary < <(values_of "$other" = "${DICTIONARIES[@]}")
    seed=(--identical)
    [[ ${#dictionary[@]} == 0 ]] || seed=(--dictionary "${dictionary[-1]}")
    # The first language's table comes out the same each time: the others are turned towards it.
    run fairseq-xl vectors align "$OUT/vectors/$other.vec" "$OUT/vectors/$FIRST.vec" "${seed[@]}" \
      --rounds "$REFINE" --output "$OUT/vectors/aligned.$other.vec" "$OUT/vectors/aligned.$FIRST.vec"
    tables+=("$other=$OUT/vectors/aligned.$other.vec")
  done
  run fairseq-xl vectors join "$FIRST=$OUT/vectors/aligned.$FIRST.vec" "${tables[@]}" --output "$OUT/vectors/joined.vec"
}

source_of() { # CORPUS SPLIT, which a corpus that was there may lack
  local folder
  folder=$(values_of "$1" = "${READY[@]}")
  [[ -z $folder || -f $folder/$2.tsv ]] || return 0
  printf '%s/%s.tsv,left=sentence1,right=sentence2,label=label,languages=%s+%s\n' \
    "${folder:-$(project "$1")/export}" "$2" "$FIRST" "$(language_of "$1")"
}

training_sources_of() { # CORPUS, a line each
  source_of "$1" train
  source_of "$1" validation
}

paraphrases_source() { printf '%s,languages=%s+%s' "$PARAPHRASES" "$FIRST" "$FIRST"; }

paraphrase_test_source() { printf '%s,languages=%s+%s,split=test' "$PARAPHRASE_TEST" "$FIRST" "$FIRST"; }

sources_of() { # CORPUS -> SOURCES
  mapfile -t -O "${#SOURCES[@]}" SOURCES < <(training_sources_of "$1" | sed 's/$/,fold=fold/')
  SOURCES+=("$(source_of "$1" test),split=test")
}

# Its words and vectors are those of every folder, so that every model can judge every corpus.
prepare_joint() {
  local other SOURCES=() also=()
  for other in "${CORPORA[@]}"; do sources_of "$other"; done
  [[ -z $PARAPHRASES ]] || also=(--also "$(paraphrases_source)")
  [[ -z $PARAPHRASE_TEST ]] || also+=("$(paraphrase_test_source)")
  run fairseq-xl match prepare --output "$OUT/prepared/joint" "${SOURCES[@]}" "${also[@]}" --vectors "$OUT/vectors/joined.vec"
  makes "$OUT/prepared/joint"
}

prepare_one() {
  local SOURCES=()
  sources_of "$CORPUS"
  run fairseq-xl match prepare --output "$OUT/prepared/$CORPUS" "${SOURCES[@]}" --like "$OUT/prepared/joint"
  makes "$OUT/prepared/$CORPUS"
}

prepare_paraphrases() { prepare_paraphrases_in "$OUT/prepared/paraphrases"; }

# The paraphrases' folds are those of the folder without a supplement, which the trainings are compared with.
prepare_supplemented() {
  local other added=()
  for other in "${CORPORA[@]}"; do
    [[ $SUPPLEMENT == joint || $SUPPLEMENT == "$other" ]] || continue
    mapfile -t -O "${#added[@]}" added < <(training_sources_of "$other")
  done
  prepare_paraphrases_in "$OUT/prepared/paraphrases.with-$SUPPLEMENT" --supplement "${added[@]}"
}

# MSRP's parts as they are: pairs of training that share a sentence with the test stay, or others' figures do not compare.
prepare_paraphrases_in() { # DIR OPTION…
  local folder=$1 sources=("$(paraphrases_source)") parts=(--folds "$(wc -w <<<"$PARAPHRASE_FOLDS")" --together components)
  shift
  [[ -z $PARAPHRASE_TEST ]] || sources+=("$(paraphrase_test_source)") parts=(--leaks nothing)
  run fairseq-xl match prepare --output "$folder" "${sources[@]}" --like "$OUT/prepared/joint" "${parts[@]}" "$@"
  makes "$folder"
}
