#!/usr/bin/env bash
# Which emoji a tweet had, for a poor language with a rich one's labels (Choudhary et al. 2018, Table 6).
#
#   bash recipes/emoji.sh --out DIR --poor es [--rich en] [--classes 5] [--data DIR] [--system twin] [--seed 1] …
#
# Prepares the text, prints its statistics, trains a twin or a baseline, and records its predictions on the test set
# in DIR/runs/NAME/record.json. Compare records with `fairseq-xl classify report DIR/runs/*/record.json -o DIR/report`.
# Finished stages are skipped: start it again after an interruption, or for another system or seed in the same --out.
#
#   --out DIR          everything is written here
#   --classes N        the poor language's N most frequent emoji (5, 10 and 18 in the paper), of those that the rich one
#                      has as well; all: every such one (default: 5). Spanish and English share 13: for 18 take one
#                      language with --rich none, or all
#   --poor LANGUAGE    es (SemEval 2018), en (TweetEval), or any name with --poor-source
#   --rich LANGUAGE    one of these, or none (default: en, for en none)
#   --data DIR         folder with semeval2018_es/ and tweeteval_en/; else downloaded
#   --poor-source SOURCE, --rich-source SOURCE  labelled files of your own, as `fairseq-xl classify prepare` takes them;
#                      repeatable
#   --system SYSTEM    twin (poor-rich and poor-poor pairs), twin-mono (poor-poor alone), twin-control (the rich labels
#                      shuffled), the same in the paper's configuration: paper, paper-mono, paper-control, or a baseline:
#                      asv dsc-t mnb-h bilstm-w bilstm-c svm fasttext st (default: twin)
#   --seed N           default: 1
#   --updates N        of training, the same for every twin (default: 3000)
#   --every N          updates between validations (default: 200)
#   --poor-size N      train on N sentences of the poor language, for learning curves (default: all)
#   --rich-size N      the same for the rich language
#   --unlabelled RICH POOR  line-aligned text without labels: a classifier of the rich language labels its side, the
#                      twin learns from that, and the poor language's labels serve the test alone
#   --part PART        test (default) or valid, while choosing settings
#   --more-text FILE   unlabelled text for asv's and dsc-t's word vectors
#   --model NAME       of st
#   --name NAME        folder of the run
#   --prepare-only     stop before training
#   --dry-run          print the commands and run none
#   -- OPTION…         further options of fairseq-train
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. "$(dirname "${BASH_SOURCE[0]}")/siamese.sh"

defaults
CLASSES=5 UPDATES=3000 EVERY=200
GITHUB=https://raw.githubusercontent.com
TWEETEVAL=$GITHUB/cardiffnlp/tweeteval/4fbd22cd78421f05b1ecdb4fc5725bc7a7bd8f66/datasets/emoji
SEMEVAL=$GITHUB/derpferd/semeval-2018-task2/3903cde3759f646b61a5d11359458795d7e37ae2/data

recipe_option() {
  TAKEN=0
  [[ $1 == --classes ]] || return 0
  need_value "$@"
  CLASSES=$2 TAKEN=2
}
read_options "$0" "$@"

check_recipe() {
  [[ $CLASSES == all || $CLASSES =~ ^0*([2-9]|[1-9][0-9]+)$ ]] || fail "--classes is '$CLASSES': give a number from 2, or all"
  PASSED=(--classes "$CLASSES")
  [[ -n $RICH ]] || { [[ $POOR == en ]] && RICH=none || RICH=en; }
  SELECTION=(--others drop --shared)
  [[ $CLASSES == all ]] || SELECTION+=(--most-frequent "$CLASSES")
  SELECTION_NAME=.$CLASSES
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
        "$folder/val_text.txt,labels=$folder/val_labels.txt,classes=$folder/mapping.txt,part=test")
      ;;
    *) fail "there are no emoji tweets in '$1': choose es or en, or give --poor-source and --rich-source" ;;
  esac
}

get() { # URL FILE
  run fairseq-xl data fetch "$1" --output "$DATA/$2" \
    --otherwise "download it elsewhere and give its folder with --data DIR"
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
