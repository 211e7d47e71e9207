#!/usr/bin/env bash
# Which emoji a tweet had, for a low-resource language with labels of a high-resource one (Choudhary et al. 2018, Table
# 6).
#
#   bash recipes/emoji.sh --out DIR --low-resource es [--high-resource en] [--classes 5] [--data DIR] …
#
# Prepares the text, prints its statistics, trains a Siamese encoder or a baseline, and records its predictions on the
# test set in DIR/runs/NAME/record.json. `fairseq-xl classify report DIR/runs/*/record.json -o DIR/report` compares
# records. Finished stages are skipped: start it again after an interruption, or for another system or seed in the same
# --out.
#
#   --out DIR          everything is written here
#   --classes N        the low-resource language's N most frequent emoji (5, 10 and 18 in the paper), of those that the
#                      other has as well; all: every such one (default: 5). Spanish and English share 13: for 18 take
#                      one language with --high-resource none, or all. `classify prepare`, which the recipe calls,
#                      names this option --most-frequent
#   --low-resource LANGUAGE
#                      es (SemEval 2018), en (TweetEval), or any name with --low-resource-source
#   --high-resource LANGUAGE
#                      one of these, or none (default: en, for en none)
#                      Repeatable: the labels of several languages are transferred together
#   --data DIR         folder with semeval2018_es/ and tweeteval_en/; else downloaded
#   --system SYSTEM    siamese (low-high and low-low pairs), siamese-mono (low-low alone), siamese-control (labels of the
#                      high-resource language shuffled), the same in the paper's configuration: paper, paper-mono,
#                      paper-control, or a baseline: asv dsc-t mnb-h bilstm-w bilstm-c
#                      svm fasttext st (default: siamese)
#   --updates N        of training, the same for every Siamese encoder (default: 3000)
#   --every N          updates between validations (default: 200)
#   --model NAME       of st
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
. "$(dirname "${BASH_SOURCE[0]}")/lib/classification.sh"

defaults
BASELINES=${BASELINES/mv-rnn /} # it has parses of reviews alone
CLASSES=5 UPDATES=3000 EVERY=200
GITHUB=https://raw.githubusercontent.com
TWEETEVAL=$GITHUB/cardiffnlp/tweeteval/4fbd22cd78421f05b1ecdb4fc5725bc7a7bd8f66/datasets/emoji
SEMEVAL=$GITHUB/derpferd/semeval-2018-task2/3903cde3759f646b61a5d11359458795d7e37ae2/data

recipe_option() {
  TAKEN=2
  case $1 in
    --classes) CLASSES=$2 ;;
    *) TAKEN=0 ;;
  esac
}
read_options "$0" "$@"

check_recipe() {
  [[ $CLASSES == all || $CLASSES =~ ^([2-9]|[1-9][0-9]{1,8})$ ]] ||
    fail "--classes is '$CLASSES': give a number from 2, or all"
  PASSED=(--classes "$CLASSES")
  [[ -n $HIGH ]] || { [[ $LOW == en ]] && HIGH=none || HIGH=en; }
  SELECTION=(--others drop --shared)
  [[ $CLASSES == all ]] || SELECTION+=(--most-frequent "$CLASSES")
  SELECTION_NAME=.$CLASSES
  PAPER_PAIRS=high-low # section 4.3: each sentence of the high-resource language with some of the other
}

sources() { # LANGUAGE
  local folder
  case $1 in
    es)
      folder=$DATA/semeval2018_es
      SOURCES=("$folder/train.text,labels=$folder/train.labels,classes=$folder/mapping.txt")
      ;;
    en)
      folder=$DATA/tweeteval_en
      SOURCES=("$folder/train_text.txt,labels=$folder/train_labels.txt,classes=$folder/mapping.txt"
        "$folder/val_text.txt,labels=$folder/val_labels.txt,classes=$folder/mapping.txt,split=test")
      ;;
    *) fail "there are no emoji tweets in '$1': choose es or en, or give --low-resource-source and" \
      "--high-resource-source" ;;
  esac
}

fetch_files() {
  local file
  sources "$LANGUAGE" # fails where there are none
  case $LANGUAGE in
    es)
      get "$SEMEVAL/trial/es_trial.text" semeval2018_es/train.text
      get "$SEMEVAL/trial/es_trial.labels" semeval2018_es/train.labels
      get "$SEMEVAL/mappings/es_mapping.txt" semeval2018_es/mapping.txt
      ;;
    en)
      for file in train_text train_labels val_text val_labels mapping; do
        get "$TWEETEVAL/$file.txt" "tweeteval_en/$file.txt"
      done
      ;;
  esac
}

classification_recipe
