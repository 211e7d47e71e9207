#!/usr/bin/env bash
# Sentiment of a low-resource language with labels of a high-resource one, by the Siamese trigram encoder (Choudhary et
# al. 2018).
#
#   bash recipes/sentiment.sh --out DIR --low-resource te [--high-resource en] [--data DIR] [--system siamese] …
#
# Prepares the text, prints its statistics, trains a Siamese encoder or a baseline, and records its predictions on the
# test set in DIR/runs/NAME/record.json. `fairseq-xl classify report DIR/runs/*/record.json -o DIR/report` compares
# records. Finished stages are skipped: start it again after an interruption, or for another system or seed in the same
# --out.
#
#   --out DIR          everything is written here
#   --low-resource LANGUAGE
#                      te (ACTSA news), hi (reviews, two classes), hi-latn, es, de, fr, pt (tweets), en, en-reviews,
#                      en-semeval (46,973 tweets, with --data alone), or any name with --low-resource-source
#   --high-resource LANGUAGE
#                      one of these, or none (default: en; for hi en-reviews); the same again: monolingual
#                      Repeatable: the labels of several languages are transferred together
#   --data DIR         folder with umsab/, telugu_actsa/, hindi_reviews/, english_sentence_polarity/, semeval_en/ and
#                      tweeteval/; else downloaded
#   --system SYSTEM    siamese (low-high and low-low pairs), siamese-mono (low-low alone), siamese-control (labels of the
#                      high-resource language shuffled), the same in the paper's configuration: paper, paper-mono,
#                      paper-control, or a baseline: asv mv-rnn dsc-t mnb-h bilstm-w
#                      bilstm-c svm fasttext st (default: siamese)
#   --updates N        of training, the same for every Siamese encoder (default: 2000)
#   --every N          updates between validations (default: 100)
#   --model NAME       of st;  --parses FILE  of mv-rnn
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
. "$(dirname "${BASH_SOURCE[0]}")/lib/classification.sh"

defaults
GITHUB=https://raw.githubusercontent.com
UMSAB=$GITHUB/cardiffnlp/xlm-t/874214d64d96599eb869a033c22ec2cc57d19256/data/sentiment
TWEETEVAL=$GITHUB/cardiffnlp/tweeteval/4fbd22cd78421f05b1ecdb4fc5725bc7a7bd8f66/datasets/sentiment
ACTSA=$GITHUB/Sathvik6323/Telugu-sentiment-analysis-research-hub/e72fe7e557dd6adcdc3c5e0543f0f9c902f66703/Datasets/ACTSA
HINDI=$GITHUB/shubham721/Sentiment-Analysis-On-Hindi-Reviews/22026e569c9e92bc7d89a0de3dad82d4b1672525
NLTK=$GITHUB/nltk/nltk_data/5db857e6f7df11eabb5e5665836db9ec8df07e28/packages/corpora
read_options "$0" "$@"

check_recipe() {
  if [[ -z $HIGH ]]; then
    HIGH=en
    case $LOW in
      hi) HIGH=en-reviews ;;
      en | en-reviews) HIGH=none ;;
    esac
  fi
  # The English reviews have no neutral class, nor have the Hindi ones.
  if [[ " $LOW $HIGH " =~ \ (hi|en-reviews)\  ]]; then
    SELECTION=(--classes negative positive --others drop)
  fi
}

umsab_name() {
  case $1 in
    hi-latn) echo hindi ;;
    es) echo spanish ;;
    de) echo german ;;
    fr) echo french ;;
    pt) echo portuguese ;;
    en) echo english ;;
    *) fail "there is no sentiment text for '$1': choose te, hi, hi-latn, es, de, fr, pt, en, en-reviews or" \
      "en-semeval, or give --low-resource-source and --high-resource-source" ;;
  esac
}

sources() { # LANGUAGE
  local folder more='' maps=$ROOT/recipes/classes
  case $1 in
    te) SOURCES=("$DATA/telugu_actsa/train.txt,format=spaces,classes=$maps/signs.tsv") ;;
    hi)
      SOURCES=("$DATA/hindi_reviews/train.pos.txt,label=positive" "$DATA/hindi_reviews/train.neg.txt,label=negative")
      ;;
    en-reviews)
      folder=$DATA/english_sentence_polarity
      SOURCES=("$folder/rt-polarity.pos,label=positive" "$folder/rt-polarity.neg,label=negative")
      ;;
    en-semeval) SOURCES=("$DATA/semeval_en/tweets.tsv,class=label,text=text,escapes=json") ;;
    *)
      folder=$DATA/umsab/$(umsab_name "$1")
      # The English tweets are published with JSON's escapes (\u2019) in every eighth line.
      [[ $1 != en ]] || more=,escapes=json
      SOURCES=("$folder/train_text.txt,labels=$folder/train_labels.txt,classes=$maps/sentiment.tsv$more"
        "$folder/val_text.txt,labels=$folder/val_labels.txt,classes=$maps/sentiment.tsv$more,split=test")
      if [[ $1 == en ]]; then
        folder=$DATA/tweeteval
        SOURCES+=("$folder/val_text.txt,labels=$folder/val_labels.txt,classes=$maps/sentiment.tsv$more")
      fi
      ;;
  esac
}

fetch_files() {
  local file name
  case $LANGUAGE in
    te) get "$ACTSA/ACTSA_telugu_polarity_annotated_UTF.txt" telugu_actsa/train.txt ;;
    hi)
      get "$HINDI/pos_hindi.txt" hindi_reviews/train.pos.txt
      get "$HINDI/neg_hindi.txt" hindi_reviews/train.neg.txt
      ;;
    en-reviews)
      run fairseq-xl data fetch "$NLTK/sentence_polarity.zip" --output "$DATA/sentence_polarity.zip" \
        --unpack "$DATA/unpacked" --otherwise "download it elsewhere and give its folder with --data DIR"
      run mkdir -p "$DATA/english_sentence_polarity"
      run cp "$DATA/unpacked/sentence_polarity/rt-polarity.pos" "$DATA/unpacked/sentence_polarity/rt-polarity.neg" \
        "$DATA/english_sentence_polarity"
      ;;
    en-semeval) fail "en-semeval is not downloaded: name the folder that has semeval_en/tweets.tsv with --data" ;;
    *)
      name=$(umsab_name "$LANGUAGE")
      for file in train_text train_labels val_text val_labels; do get "$UMSAB/$name/$file.txt" "umsab/$name/$file.txt"; done
      if [[ $LANGUAGE == en ]]; then
        for file in val_text val_labels; do get "$TWEETEVAL/$file.txt" "tweeteval/$file.txt"; done
      fi
      ;;
  esac
}

classification_recipe
