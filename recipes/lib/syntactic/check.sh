# shellcheck shell=bash
# What syntactic.sh refuses of its command line.

check_settings() {
  check_values
  check_own_tags
  check_languages
  check_text
  check_sources
}

# Each option's value by itself.
check_values() {
  local number
  [[ -n $OUT ]] || fail "--out is missing: give a folder for the results"
  need_folder_name --out "$OUT"
  [[ -z $DATA ]] || need_folder_name --data "$DATA"
  need_seed --seed "$SEED"
  for number in $MORE_SEEDS; do
    need_seed --more-seeds "$number"
    [[ $number != "$SEED" ]] || fail "--more-seeds has $number, which is --seed already: name others"
  done
  need_count --vocabulary "$VOCABULARY"
  need_count --updates "$UPDATES"
  need_count --few-updates "$FEW_UPDATES"
  need_count --adapt-updates "$ADAPT_UPDATES"
  need_count --threads "$THREADS"
  need_count --vector-epochs "$VECTOR_EPOCHS"
  need_count --tagger-epochs "$TAGGER_EPOCHS"
  [[ $TEMPERATURE =~ ^([1-9][0-9]{0,5}|0)(\.[0-9]{1,9})?$ && ! $TEMPERATURE =~ ^0(\.0*)?$ ]] ||
    fail "--temperature is '$TEMPERATURE': give a number above 0"
  [[ $DEV =~ ^0(\.[0-9]{1,9})?$ ]] || fail "--dev is '$DEV': give a share from 0 to below 1, such as 0.3"
  for number in $FEW; do need_count --few "$number"; done
}

# --own-tags, and the options that need it.
check_own_tags() {
  local language
  if [[ -n $OWN_SHARE ]]; then
    [[ $OWN_TAGS == yes ]] || fail "--own-share needs --own-tags: add it, or leave out --own-share"
    [[ $OWN_SHARE =~ ^0\.[0-9]{1,9}$ && ! $OWN_SHARE =~ ^0\.0*$ ]] ||
      fail "--own-share is '$OWN_SHARE': give a share between 0 and 1, such as 0.8"
  fi
  [[ -n $ADAPT || $ADAPT_UPDATES == 2000 ]] || fail "--adapt-updates is for --adapt: name its languages, or leave it out"
  [[ -z $ADAPT || $OWN_TAGS == yes ]] || fail "--adapt needs --own-tags: add it, or leave out --adapt"
  for language in $ADAPT; do
    [[ " $LANGUAGES " == *" $language "* ]] || fail "--adapt has '$language', which is not in --languages: add it there"
  done
}

check_languages() {
  local twice
  [[ " $LANGUAGES " == *' en '* ]] || fail "--languages must have en: Tatoeba's pairs here are with English"
  [[ -n $SECOND ]] || fail "--languages must have two languages or more, en among them"
  twice=$(tr -s ' ' '\n' <<<"$LANGUAGES $UNSEEN" | sort | uniq -d | head -n 1)
  [[ -z $twice ]] || fail "--languages and --unseen name '$twice' twice: name each language once, in one of them"
}

# The text beside Tatoeba's.
check_text() {
  local pair language
  [[ -z $MORE ]] || compgen -G "$MORE/en-*.tsv" >/dev/null || fail "--more $MORE has no file en-L.tsv"
  if [[ $SUBTITLES == download ]]; then return; fi
  for pair in $SUBTITLES; do
    [[ $pair == ??*-??*=?* ]] || fail "--subtitles has '$pair': give L-L=PREFIX, such as en-fr=subtitles, or download"
    language=${pair%%=*}
    for language in "${language%-*}" "${language#*-}"; do
      need_file "${pair#*=}.$language" "file of subtitles"
    done
  done
}

# Every language needs a treebank, and pairs with English.
check_sources() {
  local language
  for language in $LANGUAGES $UNSEEN; do
    [[ -n ${TREEBANKS[$language]:-} && ($language == en || -n ${TATOEBA[$language]:-}) ]] ||
      fail "no treebank and Tatoeba code are known for '$language': choose from en ${!TATOEBA[*]}"
    [[ -z $DATA || $language == en ]] || need_file "$DATA/mt/tatoeba/${TATOEBA[$language]}-eng.tsv" "list of pairs"
    [[ -z $DATA ]] || treebank_files "$language" >/dev/null
    [[ $language != zh || $DRY_RUN == yes ]] || command -v uconv >/dev/null ||
      fail "Chinese needs uconv, of ICU's tools (package icu-devtools), to write its treebanks in simplified characters, too"
  done
  for language in $GOLD_ONLY; do
    [[ -z $DATA ]] || treebank_files "$language" >/dev/null
  done
}
