#!/usr/bin/env bash
# Sentence embeddings that carry syntax, from parallel text and treebanks to the paper's tables.
#
#   bash recipes/syntactic.sh --out DIR [--data DIR] …
#
# trains a part-of-speech tagger for each language, tags Tatoeba's translations, holds out groups of sentences
# with the same tags, and trains an encoder that predicts the tags of a translation, beside the same encoder
# trained to translate. Both and the baselines that need no download are scored on the held-out groups, on
# treebanks with gold tags and on parallel sentences; then the encoder is fine-tuned on a few pairs of languages
# that it has not seen. Tables: DIR/tables.md. A stage that is done is not done again.
#
#   --out DIR          everything is written here
#   --data DIR         a folder with mt/tatoeba/XXX-eng.tsv (English tab other language, XXX as Tatoeba's codes) and
#                      treebanks ud/UD_…/*.conllu; without it, Tatoeba's export and the treebanks are downloaded
#   --languages 'L …'  languages to train on (default: 'en de es nl ko zh')
#   --unseen 'L …'     languages to evaluate without training on them, then to fine-tune on (default: 'fr id')
#   --few 'N …'        numbers of pairs to fine-tune on (default: '2000 10000')
#   --more DIR         more pairs to train on, DIR/en-L.tsv of any language L, such as fairseq-xl corpus paragraphs writes;
#                      the held-out groups stay those of Tatoeba
#   --own-tags         also train on sentences with their own tags, those of the taggers' treebanks among them: a
#                      departure from the paper
#   --dev SHARE        hold this share of the groups back for choosing settings, in OUT/eval/dev (default: 0)
#   --vocabulary N     pieces of the joint vocabulary (default: 40000)
#   --temperature T    pairs are drawn by their size to the power of 1/T (default: 1, as they come)
#   --updates N        updates of 32 sentences, of the encoder and of the baseline that translates (default: 300000)
#   --few-updates N    updates of a fine-tuning (default: 3000)
#   --vectors-epochs N epochs of the taggers' word vectors (default: 5)
#   --tagger-epochs N  most epochs of a tagger (default: 8)
#   --seed N           of everything that is drawn (default: 1)
#   --threads N        processes that tag (default: all)
#   --prepare-only     stop before training
#   --dry-run          print the commands and run none
#   -- OPTION…         further options of fairseq-train, such as --fp16
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"

OUT='' DATA='' LANGUAGES='en de es nl ko zh' UNSEEN='fr id' FEW='2000 10000' VOCABULARY=40000 TEMPERATURE=1
UPDATES=300000 FEW_UPDATES=3000 VECTOR_EPOCHS=5 TAGGER_EPOCHS=8 SEED=1 PREPARE_ONLY=no MORE='' OWN_TAGS=no DEV=0 TUNING=()
THREADS=$(nproc 2>/dev/null || echo 2)
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
TATOEBA_URL=https://downloads.tatoeba.org/exports
TREEBANK_URL=https://raw.githubusercontent.com/UniversalDependencies

while [[ $# -gt 0 ]]; do
  case $1 in
    -h | --help) usage "${BASH_SOURCE[0]}"; exit 0 ;;
    --dry-run) DRY_RUN=yes; shift; continue ;;
    --prepare-only) PREPARE_ONLY=yes; shift; continue ;;
    --own-tags) OWN_TAGS=yes; shift; continue ;;
    --) shift; TUNING=("$@"); break ;;
    --out | --data | --languages | --unseen | --few | --more | --dev | --vocabulary | --temperature | --updates | --few-updates | \
      --vectors-epochs | --tagger-epochs | --seed | --threads) need_value "$@" ;;
    *) fail "syntactic.sh has no option '$1': see --help" ;;
  esac
  case $1 in
    --out) OUT=$(absolute "$2") ;;
    --data) DATA=$(absolute "$2") ;;
    --languages) LANGUAGES=$2 ;;
    --unseen) UNSEEN=$2 ;;
    --few) FEW=$2 ;;
    --more) MORE=$(absolute "$2") ;;
    --dev) DEV=$2 ;;
    --vocabulary) VOCABULARY=$2 ;;
    --temperature) TEMPERATURE=$2 ;;
    --updates) UPDATES=$2 ;;
    --few-updates) FEW_UPDATES=$2 ;;
    --vectors-epochs) VECTOR_EPOCHS=$2 ;;
    --tagger-epochs) TAGGER_EPOCHS=$2 ;;
    --seed) SEED=$2 ;;
    --threads) THREADS=$2 ;;
  esac
  shift 2
done

# Beside en the target of fine-tuning: Spanish, as in the paper, where it was trained on.
SECOND=''
for L in es $LANGUAGES; do
  if [[ -z $SECOND && $L != en && " $LANGUAGES " == *" $L "* ]]; then SECOND=$L; fi
done

check() {
  local number language
  [[ -n $OUT ]] || fail "--out is missing: give a folder for the results"
  need_folder_name --out "$OUT"
  [[ -z $DATA ]] || need_folder_name --data "$DATA"
  need_seed --seed "$SEED"
  need_count --vocabulary "$VOCABULARY"
  need_count --updates "$UPDATES"
  need_count --few-updates "$FEW_UPDATES"
  need_count --threads "$THREADS"
  need_count --vectors-epochs "$VECTOR_EPOCHS"
  need_count --tagger-epochs "$TAGGER_EPOCHS"
  [[ $TEMPERATURE =~ ^([1-9][0-9]{0,5}|0)(\.[0-9]{1,9})?$ && ! $TEMPERATURE =~ ^0(\.0*)?$ ]] ||
    fail "--temperature is '$TEMPERATURE': give a number above 0"
  [[ $DEV =~ ^0(\.[0-9]{1,9})?$ ]] || fail "--dev is '$DEV': give a share from 0 to below 1, such as 0.3"
  [[ -z $MORE ]] || compgen -G "$MORE/en-*.tsv" >/dev/null || fail "--more $MORE has no file en-L.tsv"
  for number in $FEW; do need_count --few "$number"; done
  [[ " $LANGUAGES " == *' en '* ]] || fail "--languages must have en: Tatoeba's pairs here are with English"
  [[ -n $SECOND ]] || fail "--languages must have two languages or more, en among them"
  for language in $LANGUAGES $UNSEEN; do
    [[ -n ${TREEBANKS[$language]:-} && ($language == en || -n ${TATOEBA[$language]:-}) ]] ||
      fail "no treebank and Tatoeba code are known for '$language': choose from en ${!TATOEBA[*]}"
    [[ -z $DATA || $language == en ]] || need_file "$DATA/mt/tatoeba/${TATOEBA[$language]}-eng.tsv" "list of pairs"
    [[ -z $DATA ]] || treebank_files "$language" >/dev/null
    [[ $language != zh || $DRY_RUN == yes ]] || command -v uconv >/dev/null ||
      fail "Chinese needs uconv, of ICU's tools (package icu-devtools), to write its treebanks in simplified characters, too"
  done
}

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

# The same for every call of prepare: INPUTS.
inputs() {
  local language
  INPUTS=(--corpus "$OUT/corpus.sqlite")
  if [[ -n $DATA ]]; then
    for language in $LANGUAGES $UNSEEN; do
      [[ $language == en ]] || INPUTS+=(--pairs "en-$language=$DATA/mt/tatoeba/${TATOEBA[$language]}-eng.tsv")
    done
  else
    # shellcheck disable=SC2206
    INPUTS+=(--tatoeba "$OUT/data/sentences/sentences.csv" "$OUT/data/links/links.csv" --languages $LANGUAGES $UNSEEN)
  fi
}

read_text() { run fairseq-xl embed prepare "${INPUTS[@]}" --output "$OUT/preprocessed" --until read; }

# A small treebank teaches a tagger few words; vectors of the language's text teach it the others.
train_vectors() {
  local files
  mapfile -t files < <(treebank_files "$L")
  vectors_of "$OUT/vectors/$L" "$OUT/corpus.sqlite" "${files[@]}"
}

vectors_of() { # PREFIX TEXT… OPTION…
  local prefix=$1 subwords=(--min-subword 2 --max-subword 5)
  [[ $L != zh ]] || subwords=(--max-subword 0) # its pieces are characters
  run fairseq-xl embed pieces "${@:2}" --language "$L" --output "$prefix.pieces"
  run fairseq-xl vectors train "$prefix.pieces" --output "$prefix" --dim 100 --epoch "$VECTOR_EPOCHS" \
    --min-count 1 --window 3 --buckets 200000 "${subwords[@]}" --threads 1 --seed "$SEED" --quiet
  makes "$prefix.vec"
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
  [[ $L == en ]] || names=(--names "$OUT/corpus.sqlite") # Tom and Mary, of whom treebanks know nothing
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
  run fairseq-xl embed prepare "${INPUTS[@]}" --output "$OUT/preprocessed" "${TAGGERS[@]}" --processes "$THREADS" \
    --until tag
}

# Of Korean all groups are kept, as in the paper, for there are few.
build_sets() {
  local files all=()
  [[ " $LANGUAGES $UNSEEN " != *' ko '* ]] || all=(--all ko)
  run fairseq-xl embed build-eval "$OUT/corpus.sqlite" --output "$OUT/eval" "${all[@]}" --seed "$SEED" --dev "$DEV"
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
  run fairseq-xl embed prepare --output "$1" "${INPUTS[@]}" "${TAGGERS[@]}" --exclude "${exclude[@]}" --seed "$SEED" "${@:2}"
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
  # shellcheck disable=SC2086
  prepare "$OUT/preprocessed" --sources $SOURCES --targets $LANGUAGES --vocabulary "$VOCABULARY" "${EXTRA[@]}"
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

# Table 1 of the paper: Adam at a constant rate, batches of 32 sentences.
TRAINING=(
  --user-dir "$PLUGIN" --task upos_translation --arch upos_lstm --criterion upos_cross_entropy
  --optimizer adam --lr 1e-4 --batch-size 32 --log-format json --log-interval 100 --no-epoch-checkpoints
)

train() { # NAME DATA OPTION…
  claim_checkpoints "$OUT/runs/$1"
  run mkdir -p "$OUT/runs/$1"
  logged "$OUT/logs/train.$1.log" fairseq-train "$2" "${TRAINING[@]}" --save-dir "$OUT/runs/$1" --seed "$SEED" \
    "${@:3}" "${TUNING[@]}"
}

LONG=(--max-update "$UPDATES" --save-interval-updates 5000 --keep-interval-updates 1)
train_tags() {
  train tags "$OUT/preprocessed" "${LONG[@]}" --sampling-temperature "$TEMPERATURE" \
    --best-checkpoint-metric mean_accuracy --maximize-best-checkpoint-metric
}
# The same encoder and sentences, without a tag.
train_pieces() {
  train pieces "$OUT/preprocessed" "${LONG[@]}" --sampling-temperature "$TEMPERATURE" --target pieces --decoder-output-dim 100
}

few_pairs() { # LANGUAGE -> names of fine-tunings
  echo "$1-en" "$1-en,$1-$SECOND"
}
# Validation at a quarter of the updates, not after each of the many epochs of few pairs.
train_few() {
  local quarter=$((FEW_UPDATES < 4 ? 1 : FEW_UPDATES / 4))
  train "few.$L.$PAIRS.$NUMBER" "$OUT/few" --finetune-from-model "$OUT/runs/tags/checkpoint_best.pt" \
    --pairs "$PAIRS" --sentences-per-pair "$NUMBER" --max-update "$FEW_UPDATES" --validate-interval 1000000 \
    --save-interval 1000000 --save-interval-updates "$quarter" --keep-interval-updates 1
}

untrained() { run fairseq-xl embed random "$OUT/runs/tags/checkpoint_best.pt" --output "$OUT/runs/random" --seed "$SEED"; }

evaluate() { # NAME ENCODER…
  run fairseq-xl embed evaluate "${@:2}" --output "$OUT/evaluation/$1" "${SETS[@]}"
}

# Every language with a parallel treebank: VALUES of --treebanks.
gold() {
  local language file
  for language in $LANGUAGES $UNSEEN $GOLD_ONLY; do
    file=$(parallel_file "$language")
    [[ -z $file ]] || echo "$language=$file"
  done
}

# Of every evaluation: encoders, and baselines that need no download.
evaluate_baselines() { # NAME
  evaluate "$1" "ours=$OUT/runs/tags/checkpoint_best.pt" "translating=$OUT/runs/pieces/checkpoint_best.pt" \
    "random=$OUT/runs/random" "words=vectors:$OUT/words/{lang}.vec" length tags characters
}

evaluate_all() {
  local treebanks accuracy=() language
  mapfile -t treebanks < <(gold)
  for language in $LANGUAGES $UNSEEN; do
    [[ -z $(parallel_file "$language") ]] || accuracy+=("$language=$OUT/taggers/$language")
  done
  SETS=(--sets "$OUT/eval" --treebanks "${treebanks[@]}" --taggers "${accuracy[@]}")
  evaluate_baselines all
}

# By gold tags, with each language's vectors centred and whitened beside.
evaluate_gold() {
  SETS=(--sets "$OUT/gold" --measures nearest --transform center whiten)
  evaluate_baselines gold
}

# Settings are chosen by these groups, which no table reports.
evaluate_dev() {
  SETS=(--sets "$OUT/eval/dev" --measures nearest --transform center whiten)
  evaluate_baselines dev
}

evaluate_few() {
  local encoders=() pairs number
  for pairs in $(few_pairs "$L"); do
    for number in $FEW; do
      encoders+=("$pairs-$number=$OUT/runs/few.$L.$pairs.$number/checkpoint_best.pt")
    done
  done
  SETS=(--sets "$OUT/eval/$L.tsv")
  evaluate "few.$L" "unseen=$OUT/runs/tags/checkpoint_best.pt" "${encoders[@]}"
}

tables() {
  local records=("$OUT/evaluation/all.json")
  for L in $UNSEEN; do records+=("$OUT/evaluation/few.$L.json"); done
  run fairseq-xl embed tables "${records[@]}" --output "$OUT/tables.md"
}

draw_map() {
  run fairseq-xl embed map "ours=$OUT/runs/tags/checkpoint_best.pt" --sets "$OUT/eval" --output "$OUT/map"
}

# What is read from --data, by its content.
fingerprint_pairs() {
  local language files=()
  for language in $LANGUAGES $UNSEEN; do
    [[ -z $DATA || $language == en ]] || files+=("$DATA/mt/tatoeba/${TATOEBA[$language]}-eng.tsv")
  done
  fingerprint "${files[@]}"
}

fingerprint_more() {
  [[ -z $MORE ]] || fingerprint "$MORE"/en-*.tsv
}

fingerprint_treebanks() { # LANGUAGE
  local files
  [[ -n $DATA ]] || return 0
  mapfile -t files < <(treebank_files "$1"; parallel_file "$1")
  fingerprint "${files[@]}"
}

check
begin_in "$OUT"
activate
STAMPS=$OUT/stamps
inputs

all_stages() {
  tagged='' evaluated='' held='sets' words=''
  if [[ -z $DATA ]]; then stage download '' download; fi
  stage read '' read_text "$LANGUAGES" "$UNSEEN" "$(fingerprint_pairs)"
  for L in $LANGUAGES $UNSEEN $GOLD_ONLY; do
    stage "vectors.$L" read train_vectors "$VECTOR_EPOCHS" "$SEED" "$(fingerprint_treebanks "$L")"
  done
  for L in $LANGUAGES $UNSEEN; do
    earlier="vectors.$L"
    if [[ $L == zh ]]; then
      stage simplified read simplify "$(fingerprint_treebanks zh)"
      earlier+=' simplified'
    fi
    stage "tagger.$L" "$earlier" train_tagger "$TAGGER_EPOCHS" "$SEED" "$(fingerprint_treebanks "$L")"
    tagged+=" tagger.$L"
  done
  stage tag "read$tagged" tag
  stage sets tag build_sets "$SEED" "$DEV" "$(for L in $GOLD_ONLY; do fingerprint_treebanks "$L"; done)"
  for L in $(gold_languages); do
    stage "gold.$L" '' build_gold "$(fingerprint_treebanks "$L")"
    held+=" gold.$L"
  done
  stage prepare "$held" prepare_training "$VOCABULARY" "$SEED" "$OWN_TAGS" "$(fingerprint_more)"
  stage prepare.few prepare prepare_few "$UNSEEN"
  [[ $DRY_RUN == yes ]] || fairseq-xl embed statistics "$OUT/preprocessed"
  if [[ $PREPARE_ONLY == yes ]]; then return; fi

  for L in $LANGUAGES $UNSEEN $GOLD_ONLY; do
    stage "words.$L" "$held" train_words "$VECTOR_EPOCHS" "$SEED" "$(fingerprint_treebanks "$L")"
    words+=" words.$L"
  done
  stage train.tags prepare train_tags "$UPDATES" "$TEMPERATURE" "$SEED" "${TUNING[*]:-}"
  stage train.pieces prepare train_pieces "$UPDATES" "$TEMPERATURE" "$SEED" "${TUNING[*]:-}"
  stage untrained train.tags untrained "$SEED"
  stage evaluate "train.tags train.pieces untrained$words" evaluate_all
  stage evaluate.gold "train.tags train.pieces untrained$words" evaluate_gold
  if [[ $DEV != 0 ]]; then stage evaluate.dev "train.tags train.pieces untrained$words" evaluate_dev; fi
  for L in $UNSEEN; do
    tuned=''
    for PAIRS in $(few_pairs "$L"); do
      for NUMBER in $FEW; do
        stage "few.$L.$PAIRS.$NUMBER" "train.tags prepare.few" train_few "$FEW_UPDATES" "$SEED" "${TUNING[*]:-}"
        tuned+=" few.$L.$PAIRS.$NUMBER"
      done
    done
    stage "evaluate.$L" "train.tags$tuned" evaluate_few
    evaluated+=" evaluate.$L"
  done
  stage tables "evaluate$evaluated" tables
  stage map train.tags draw_map
  [[ $DRY_RUN == yes ]] || cat "$OUT/tables.md"
}

# Another process in this folder waits, and then finds all of it done.
locked "$OUT/lock" all_stages
