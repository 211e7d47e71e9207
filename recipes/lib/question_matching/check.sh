# shellcheck shell=bash
# What question_matching.sh refuses of its command line, and what it makes of the rest.

check_settings() {
  check_classifier
  check_folders
  check_transfer
  check_vectors
  check_languages
}

# What is trained, on which folds, and what is made of its answers.
check_classifier() {
  one_of "$SYSTEM" "$CLASSIFIERS $BASELINES" || fail "--system is '$SYSTEM': choose one of $CLASSIFIERS $BASELINES"
  [[ $SYSTEM != st || -n $MODEL ]] || fail "--system st needs --model: the name or folder of a sentence-transformers model"
  need_seed --seed "$SEED"
  need_number --folds "$FOLDS"
  need_count --epochs "$EPOCHS"
  ((SEED > 0)) || fail "--seed counts from 1"
  ((FOLDS > 1)) || fail "--folds is $FOLDS: at least 2, one of which is held out"
  need_count --runs "$RUNS"
  ((RUNS <= FOLDS)) || fail "--runs is $RUNS: at most one for each of the $FOLDS folds of --folds"
  ((RUNS == 1)) || ! one_of "$SYSTEM" "$BASELINES" ||
    fail "--runs $RUNS averages trainings, and the baseline $SYSTEM is not calibrated as they are: leave it out"
  [[ $CHOOSE =~ ^(log_loss|average_precision|last)$ ]] || fail "--choose is '$CHOOSE': choose log_loss, average_precision or last"
  [[ $PRIOR =~ ^(labelled|fold|estimated)$ || ($PRIOR =~ ^0?\.[0-9]+$ && $PRIOR =~ [1-9]) ]] ||
    fail "--prior is '$PRIOR': choose labelled, fold, estimated, or a number between 0 and 1, such as 0.25"
}

check_folders() {
  local language
  [[ -n $OUT ]] || fail "--out is missing: name the folder for data, checkpoints and records"
  need_folder_name --out "$OUT"
  [[ -z $NAME ]] || need_name --name "$NAME"
  [[ -n $DATA ]] || fail "--data is missing: name the folder with the competition's files (nothing is downloaded)"
  need_folder_name --data "$DATA"
  for language in english spanish; do need_file "$DATA/cikm_${language}_train.txt" "file of question pairs,"; done
}

# The pairs that are made, and those that are left out.
check_transfer() {
  local file
  [[ $TRANSFER =~ ^(yes|no)$ ]] || fail "--transfer is '$TRANSFER': choose yes or no"
  [[ $CHAINS =~ ^(yes|no)$ ]] || fail "--chains is '$CHAINS': choose yes or no"
  [[ $TRANSLATE =~ ^(yes|no)$ ]] || fail "--translate is '$TRANSLATE': choose yes or no"
  [[ $TRANSLATE == no || $TRANSFER == yes ]] || fail "--translate yes serves label transfer alone: leave out --transfer no"
  [[ ${#TRANSLATED[@]} == 0 || $TRANSFER == yes ]] || fail "--translated serves label transfer alone: leave out --transfer no"
  [[ $TRANSLATE == no ]] || need_file "$DATA/cikm_test_a.txt" "file to translate,"
  [[ $LEAKS =~ ^(sentences|pairs|nothing)$ ]] || fail "--leaks is '$LEAKS': choose sentences, pairs or nothing"
  for file in "${TRANSLATED[@]}"; do need_file "$file" "text"; done
}

check_vectors() { # -> VECTORS VECTORS_KEY, its name in folders, and UNKNOWN
  local file
  for file in "${TEXTS[@]}"; do need_file "$file" "text"; done
  case $VECTORS in
    own) VECTORS_KEY=own UNKNOWN=${UNKNOWN:-subwords} ;;
    official) VECTORS_KEY=official UNKNOWN=${UNKNOWN:-repair} ;;
    *)
      VECTORS=$(absolute "$VECTORS")
      need_file "$VECTORS" "file of word vectors,"
      VECTORS_KEY=$(basename "$VECTORS")
      need_name --embeddings "$VECTORS_KEY"
      if [[ $VECTORS == *.bin ]]; then UNKNOWN=${UNKNOWN:-subwords}; else UNKNOWN=${UNKNOWN:-repair}; fi
      ;;
  esac
  [[ $UNKNOWN =~ ^(subwords|repair|none)$ ]] || fail "--unknown is '$UNKNOWN': choose subwords, repair or none"
  [[ $UNKNOWN != subwords || $VECTORS == own || $VECTORS == *.bin ]] ||
    fail "--unknown subwords needs vectors with subwords: own ones, or a .bin file"
  [[ $VECTORS == own || ${#TEXTS[@]} == 0 ]] || fail "--text is for own vectors alone: leave out --embeddings"
}

# --languages, and the option that needs both.
check_languages() {
  local file
  [[ $LANGUAGES =~ ^(es|both)$ ]] || fail "--languages is '$LANGUAGES': choose es or both"
  for file in "${ENGLISH_TEXTS[@]}"; do need_file "$file" "text"; done
  [[ $LANGUAGES == both || ${#ENGLISH_TEXTS[@]} == 0 ]] ||
    fail "--english-text is for the vectors of --languages both alone: give that, too"
  [[ $LANGUAGES == es || $VECTORS == own ]] ||
    fail "--languages both trains own vectors of both languages in one space: leave out --embeddings"
  [[ $LANGUAGES == es ]] || ! one_of "$SYSTEM" "$WITHOUT_VECTORS" ||
    fail "--system $SYSTEM reads no word vectors, so English pairs teach it nothing: leave out --languages both"
}
