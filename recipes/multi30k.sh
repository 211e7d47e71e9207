#!/usr/bin/env bash
# Translation with continuous outputs on Multi30k (29,000 image captions; German, French, English).
#
#   bash recipes/multi30k.sh --out DIR [--data DIR] [--src de] [--tgt en] [--loss syn_margin_proj] …
#
# Tokenises and truecases, trains target vectors on the target side, preprocesses, trains, translates
# test_2016_flickr at beam 1 and 5, and scores the plain text with sacreBLEU. DIR/runs/NAME/model then
# translates raw text: `fairseq-xl translate text DIR/runs/NAME/model <in >out`. Finished stages are skipped:
# start it again after an interruption, or with another loss or seed in the same --out.
#
#   --out DIR          everything is written here: DIR/prepared (shared by all runs) and DIR/runs/NAME
#   --data DIR         folder with train, val, test_2016_flickr .de .en .fr (or .gz); else downloaded
#   --url URL          another address to download them from
#   --src, --tgt       de, fr or en (default: de to en)
#   --loss LOSS        cross_entropy, cross_entropy_tied, vmf, cosine, l2, negative_sampling,
#                      most_informative_negative, syn_margin_proj, syn_margin_diff,
#                      power_spherical, in_batch_negative, info_nce, vmf_posterior (a softmax over the
#                      frozen table), combined (vmf_posterior and syn_margin_proj), annealed (from one to
#                      another: -- --start-loss cosine --end-loss vmf --anneal-to 2000), or a baseline: stock
#                      (fairseq's own lstm), stock_transformer (fairseq's own transformer, four layers and
#                      label smoothing, on 10,000 joint subwords unless --subwords says otherwise; a GPU is
#                      advised); default: syn_margin_proj
#   --seed N           default: 1
#   --arch ARCH        default: continuous_lstm; continuous_transformer and continuous_transformer_iwslt
#                      train with a warm-up and an inverse square root schedule
#   --size N           embeddings and states of encoder and decoder; a Transformer's inner layers are
#                      four times as wide (default: 256; 0: the arch's own)
#   --epochs N         default: 16; softmax outputs, vmf_posterior and combined 8; stock 14;
#                      stock_transformer 80. An LSTM's learning rate falls over the second half, so
#                      that another N is another run: give it a --name
#   --mono FILE        more text in the target language, for the vectors
#   --vectors FILE     ready word vectors (.vec, .bin, …) instead of training them;
#                      or a checkpoint (.pt) of a softmax of the same OUT, whose output vectors become
#                      the targets
#   --target-epochs N  train a softmax of the same body for N epochs first, and take its output vectors as targets
#                      (default: 0, the vectors of --vectors or of fastText)
#   --warm-start       begin with that softmax's encoder and decoder, too; N epochs of it and EPOCHS of the loss are
#                      then as long as a softmax's training, unless --epochs says otherwise
#   --vector-epochs N  epochs of fastText (default: 5)
#   --transform 'OPTIONS'  options for `fairseq-xl vectors convert`, applied to the target vectors
#                      (default: '--normalize-first --center --normalize'; '--random-share 1' for
#                      random targets)
#   --source-min-count N, --target-min-count N  words seen less often in the training text are unknown (default: 2)
#   --subwords N       SentencePiece vocabularies of N pieces of each side's truecased tokens, instead of
#                      words; the vectors are trained on pieces, too (default: 0, words)
#   --subword-kind K   bpe (default) or unigram
#   --joint            one vocabulary of N pieces for both languages; dictionaries stay separate
#   --test PREFIX      translate and score PREFIX.de, PREFIX.en instead of test_2016_flickr
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
# An epoch is some 400 updates; only Transformers warm up for long.
WARMUP=1000
# In a trial of 12 epochs a softmax was at its best on validation after 8; vectors still learn then, in
# epochs half as long.
CONTINUOUS_EPOCHS=16 SOFTMAX_EPOCHS=8 TRANSFORMER_EPOCHS=80
URL=https://raw.githubusercontent.com/multi30k/dataset/a3d2e0d26b56f3846f66a952536ffed4e401d05a/data/task1/raw
# Words seen at least twice, fairseq's four included: 7,864 German and 5,928 English types.
LIMITS=(--thresholdsrc 2 --thresholdtgt 2)
recipe_option() { :; }
read_options "$0" "$@"

raw() { # the published file of a set and language, compressed or not
  if [[ -n $FETCHED || ( ! -f $DATA/$1 && -f $DATA/$1.gz ) ]]; then
    echo "$DATA/$1.gz"
  else
    echo "$DATA/$1"
  fi
}

FILES=()
for set in train val test_2016_flickr; do FILES+=("$set.$SRC" "$set.$TGT"); done
FETCHED=''

check_recipe() {
  local language file
  for language in "$SRC" "$TGT"; do
    [[ $language =~ ^(de|fr|en)$ ]] || fail "Multi30k has no language '$language': choose de, fr or en"
  done
  [[ -z $DATA ]] || for file in "${FILES[@]}"; do need_file "$(raw "$file")" "Multi30k file"; done
}

fetch_files() {
  local file
  for file in "${FILES[@]}"; do
    run fairseq-xl data fetch "$URL/$file.gz" --output "$OUT/raw/$file.gz" \
      --otherwise "download Multi30k elsewhere and give its folder with --data DIR"
  done
}

plain_files() {
  clean_pair "$(raw "train.$SRC")" "$(raw "train.$TGT")" "$PREPARED/plain/train" --empty drop
  clean_pair "$(raw "val.$SRC")" "$(raw "val.$TGT")" "$PREPARED/plain/valid" --empty keep
  clean_pair "$(raw "test_2016_flickr.$SRC")" "$(raw "test_2016_flickr.$TGT")" \
    "$PREPARED/plain/test" --empty keep
}

plain_stages() {
  if [[ -z $DATA ]]; then
    stage fetch '' fetch_files "$URL"
    DATA=$OUT/raw FETCHED=fetch
  fi
  local files=()
  for file in "${FILES[@]}"; do files+=("$(raw "$file")"); done
  stage plain "$FETCHED" plain_files "$(fingerprint "${files[@]}")"
}

translation_recipe
