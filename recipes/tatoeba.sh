#!/usr/bin/env bash
# Translation with continuous outputs on short sentences of Tatoeba (165,800 German-English pairs).
#
#   bash recipes/tatoeba.sh --out DIR --data deu-eng.tsv [--src de] [--tgt en] [--loss syn_margin_proj] …
#
# Cuts the pairs into training, development and test text that have no sentence in common, and then does
# what multi30k.sh does. The lists are to be had at https://www.manythings.org/anki, one archive a language.
#
#   --out DIR          everything is written here: DIR/prepared (shared by all runs) and DIR/runs/NAME
#   --data FILE        lines ENGLISH tab OTHER LANGUAGE, as the lists have them
#   --src, --tgt       language codes of the other language and en, either way (default: de to en)
#   --held-out N       pairs of the development and of the test set (default: 2000)
#   --loss LOSS        as in multi30k.sh (default: syn_margin_proj)
#   --seed N           default: 1
#   --arch ARCH        default: continuous_lstm; continuous_transformer and continuous_transformer_iwslt
#                      train with a warm-up and an inverse square root schedule
#   --size N           embeddings and states of encoder and decoder (default: 256; 0: the arch's own)
#   --epochs N         default: 8; softmax outputs, vmf_posterior and combined 5; stock 8; stock_transformer 30.
#                      An LSTM's learning rate falls over the second half, so that another N is another run:
#                      give it a --name
#   --mono FILE        more text in the target language, for the vectors
#   --vectors FILE     ready word vectors (.vec, .bin, …) instead of training them;
#                      or a checkpoint (.pt) of a softmax of the same OUT, whose output vectors become
#                      the targets
#   --target-epochs N  train a softmax of the same body for N epochs first, and take its output vectors as targets
#                      (default: 0, the vectors of --vectors or of fastText)
#   --vector-epochs N  epochs of fastText (default: 5)
#   --transform 'OPTIONS'  options for `fairseq-xl vectors convert`, applied to the target vectors
#                      (default: '--normalize-first --center --normalize')
#   --source-min-count N, --target-min-count N  words seen less often in the training text are unknown (default: 2)
#   --subwords N       SentencePiece vocabularies of N pieces of each side's truecased tokens, instead of
#                      words; the vectors are trained on pieces, too (default: 0, words)
#   --subword-kind K   bpe (default) or unigram
#   --joint            one vocabulary of N pieces for both languages; dictionaries stay separate
#   --test PREFIX      translate and score PREFIX.de, PREFIX.en instead of the test set
#   --read-unknown C   read source words that the model does not know as the known words nearest to them, where the
#                      cosine of their fastText vectors is at least C; scores and record say so (default: off)
#   --source-mono FILE more text in the source language, for those vectors
#   --replace-unknown attention|lexicon  put the source word attended to most, or its translation by a
#                      lexicon of the training text, in the place of each unknown word; scores and
#                      record say so (default: unknown words stay)
#   --search 'NAME=VALUE …'  options of the search, as `translate tune` prints them: lenpen=1.2 decode_score=cosine …;
#                      what was trained is translated anew
#   --diagnose best|epochs|no  measure the predicted vectors on the development set: of the best
#                      checkpoint, or of every epoch's as well, which are then kept (default: best)
#   --diagnose-words 'WORD …'  of the target language, as it is tokenised: list what is near their predictions
#                      and the negatives made of these
#   --user-dir DIR     a plugin of your own that imports fairseq_xl, for a loss of yours
#   --name NAME        folder of the run (default: from languages, loss, arch, size, subwords and seed)
#   --threads N        processes for the text, threads for the vectors (default: all)
#   --prepare-only     stop before training
#   --train-only       stop after training
#   --dry-run          print the commands and run none
#   -- OPTION…         further options of fairseq-train
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib/common.sh"
. "$(dirname "${BASH_SOURCE[0]}")/lib/translation.sh"

defaults
tuned_defaults
# five times as many pairs as Multi30k's, so half as many epochs
CONTINUOUS_EPOCHS=8 SOFTMAX_EPOCHS=5 STOCK_EPOCHS=8 TRANSFORMER_EPOCHS=30
LIMITS=(--thresholdsrc 2 --thresholdtgt 2)
HELD_OUT=2000
IS_FILE=yes # what --data names

recipe_option() {
  TAKEN=2
  case $1 in
    --held-out) need_value "$@" && HELD_OUT=$2 ;;
    *) TAKEN=0 ;;
  esac
}
read_options "$0" "$@"

check_recipe() {
  need_count --held-out "$HELD_OUT"
  [[ $SRC == en || $TGT == en ]] || fail "one of --src and --tgt must be en: the lists are English and another language"
  [[ -n $DATA ]] || fail "--data is missing: give a list of sentence pairs from https://www.manythings.org/anki"
  need_file "$DATA" "list of pairs for --data,"
}

plain_files() {
  local columns=(2 1) set
  [[ $SRC != en ]] || columns=(1 2)
  run fairseq-xl data split "$DATA" --languages "$SRC" "$TGT" --columns "${columns[@]}" \
    --valid "$HELD_OUT" --test "$HELD_OUT" --output "$PREPARED/split"
  for set in train valid test; do
    clean_pair "$PREPARED/split/$set.$SRC" "$PREPARED/split/$set.$TGT" "$PREPARED/plain/$set" --empty keep
  done
}

plain_stages() { stage plain '' plain_files "$HELD_OUT" "$(fingerprint "$DATA")"; }

translation_recipe
