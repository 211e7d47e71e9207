# shellcheck shell=bash
# What sentiment.sh and emoji.sh refuse of a command line, and what they make of the rest. Sourced by classification.sh.

check_settings() {
  check_values
  if one_of "$SYSTEM" "$BASELINES"; then check_baseline; else check_siamese; fi
  check_languages
  check_recipe
  check_high_resource
  check_high_words
  [[ ${#UNLABELLED[@]} == 0 ]] || check_unlabelled
}

# Each option's value by itself.
check_values() {
  one_of "$SYSTEM" "$SIAMESE $BASELINES" || fail "--system is '$SYSTEM': choose one of" $SIAMESE $BASELINES
  need_seed --seed "$SEED"
  need_count --updates "$UPDATES"
  need_count --every "$EVERY"
  need_number --low-resource-size "$LOW_RESOURCE_SIZE"
  need_number --high-resource-size "$HIGH_RESOURCE_SIZE"
  need_number --pretrain "$PRETRAIN"
  [[ $HIGH_WORDS =~ ^(translated|shuffled|original)$ ]] ||
    fail "--high-words is '$HIGH_WORDS': choose translated, shuffled or original"
  [[ $WITH_HIGH =~ ^(no|yes)$ ]] || fail "--with-high-resource is '$WITH_HIGH': choose no or yes"
  [[ $CLASS_BIAS =~ ^(no|yes)$ ]] || fail "--class-bias is '$CLASS_BIAS': choose no or yes"
  [[ $MORPHEMES =~ ^(no|yes)$ ]] || fail "--morphemes is '$MORPHEMES': choose no or yes"
  [[ $DRAWS =~ ^(one|seed)$ ]] || fail "--draws is '$DRAWS': choose one or seed"
  [[ $SPLIT =~ ^(valid|test)$ ]] || fail "--split is '$SPLIT': choose valid or test"
  [[ -n $OUT ]] || fail "--out is missing: name the folder for data, checkpoints and records"
  need_folder_name --out "$OUT"
  [[ -z $NAME ]] || need_name --name "$NAME"
  [[ -z $DATA ]] || need_folder_name --data "$DATA"
  [[ -z $DATA || -d $DATA ]] || fail "--data $DATA is no folder: check the name"
}

# An experiment gives all systems the same options, so a baseline goes without those of the encoders.
check_baseline() { # -> MORPHEMES LOW_VECTORS HIGH_VECTORS PRETRAIN CLASS_BIAS
  local option
  [[ $HIGH_WORDS != shuffled || -z $HIGH_VECTORS || ${#LEXICONS[@]} != 0 ]] ||
    fail "--high-words shuffled needs --lexicon: $SYSTEM reads no vectors"
  for option in "$MORPHEMES=--morphemes" "${LOW_VECTORS:-no}=--low-vectors" "$PRETRAIN=--pretrain" "$CLASS_BIAS=--class-bias"; do
    [[ $option =~ ^(no|0)= ]] || say "${option##*=} has no effect on $SYSTEM"
  done
  MORPHEMES=no LOW_VECTORS='' HIGH_VECTORS='' PRETRAIN=0 CLASS_BIAS=no
  [[ $SYSTEM != st || -n $MODEL || $PREPARE_ONLY == yes ]] || fail "--system st needs --model: the name or folder of a sentence-transformers model"
  [[ $SYSTEM != mv-rnn || -n $PARSES || $PREPARE_ONLY == yes ]] || fail "--system mv-rnn needs --parses: a file of parses"
}

check_siamese() { # -> PRETRAIN
  [[ $WITH_HIGH == no || $PREPARE_ONLY == yes ]] || fail "--with-high-resource is for baselines: $SYSTEM pairs both languages anyway"
  [[ $SYSTEM != *-mono ]] || PRETRAIN=0
  [[ $PRETRAIN == 0 || $SYSTEM != paper* ]] || fail "--pretrain is for siamese and siamese-control, not for the paper's configuration"
  [[ $CLASS_BIAS == no || $SPLIT != valid ]] || fail "--class-bias is fitted on the split valid: leave out --split valid"
}

check_languages() { # -> HIGH
  local option
  [[ -n $LOW ]] || fail "--low-resource is missing: name the language to classify"
  need_code --low-resource "$LOW"
  for option in ${HIGH//+/ }; do need_code --high-resource "$option"; done
  [[ -z $(tr + '\n' <<<"$HIGH" | sort | uniq -d) ]] || fail "--high-resource is '$HIGH': name each language once"
  for option in "${LEXICONS[@]}"; do
    [[ $option == ?*=?* ]] || fail "--lexicon is '$option': give LANGUAGE=FILE"
    need_file "${option#*=}" "lexicon,"
  done
  [[ $HIGH != "$LOW" ]] || HIGH=none
}

# What needs a high-resource language, or goes without one.
check_high_resource() {
  local option
  [[ $PRETRAIN == 0 || $HIGH != none ]] || fail "--pretrain trains on a high-resource language first: name one"
  [[ " ${HIGH//+/ } " != *" none "* || $HIGH == none ]] || fail "--high-resource none is for itself: leave the others out"
  for option in "${LEXICONS[@]}"; do
    [[ " ${HIGH//+/ } " == *" ${option%%=*} "* ]] || fail "--lexicon is '$option': begin with one of ${HIGH//+/ }"
  done
  [[ $SYSTEM != *-control || $HIGH != none ]] || fail "--system $SYSTEM shuffles a high-resource language's labels: name one"
  [[ $WITH_HIGH == no || $HIGH != none ]] || fail "--with-high-resource yes needs a high-resource language"
  [[ $HIGH == none || " ${HIGH//+/ } " != *" $LOW "* ]] || fail "--high-resource names $LOW, which is the one to classify"
}

# What carries words of the high-resource language over: vectors, or a lexicon.
check_high_words() { # -> VECTORS LEXICONS
  local option
  [[ -n $LOW_VECTORS || -z $HIGH_VECTORS ]] || fail "--low-vectors is missing: --high-vectors needs the other language's"
  if [[ -n $LOW_VECTORS && $HIGH_WORDS != original ]]; then
    [[ -n $HIGH_VECTORS && $HIGH != none ]] || fail "--low-vectors needs a high-resource language and its --high-vectors"
    VECTORS=("$LOW_VECTORS" "$HIGH_VECTORS")
    for option in "${VECTORS[@]}"; do need_file "$option" "file of word vectors,"; done
  fi
  [[ $HIGH_WORDS != original ]] || LEXICONS=()
  [[ ${#LEXICONS[@]} == 0 || ${#VECTORS[@]} == 0 ]] ||
    fail "--lexicon and --high-vectors exclude each other: a translated text has no words of its language"
  [[ $HIGH_WORDS != shuffled || ${#LEXICONS[@]} != 0 || ${#VECTORS[@]} != 0 ]] ||
    fail "--high-words shuffled needs --lexicon or --high-vectors"
  [[ ${#LEXICONS[@]} == 0 || ${#HIGH_SOURCES[@]} == 0 ]] ||
    fail "--high-resource-source takes its lexicon itself: FILE,lexicon=FILE"
}

check_unlabelled() {
  local option
  [[ $HIGH != *+* ]] || fail "--unlabelled takes one high-resource language, whose classifier labels its side"
  for option in "${UNLABELLED[@]}"; do need_file "$option" "text for --unlabelled,"; done
  [[ $HIGH != none ]] || fail "--unlabelled needs a high-resource language: its labels are all there are"
  [[ $SYSTEM != *-control ]] || fail "--system $SYSTEM is no control beside --unlabelled: it shuffles $HIGH's own labels" \
    "alone, and those that a classifier gave the other side stay"
}
