"""Good command lines, as they are typed in a folder that has the group's ``in/`` and an ``out/``.

What a line reads lies under ``in/`` and what it writes under ``out/``, so that a case knows both when it sees them;
``< FILE`` at the end is standard input. Every command has at least one line, and each of them succeeds.
"""

from __future__ import annotations

import shlex
from functools import cache

from fairseq_xl.cli.main import find

CORPUS = (
    "--set topics.passes=5 topics.fewest=2 topics.most=2 negatives.low=-1 negatives.high=1 negatives.folds=2 "
    "negatives.max_page_share=1 negatives.encoder=vectors:../en.vec"
)
TAGGED = (
    "--corpus out/corpus.sqlite --pairs de-en=in/de-en.tsv --tagger de=in/de.conllu en=in/en.conllu "
    "--cache out/tags.sqlite"
)

TATOEBA = "--tatoeba in/sentences.csv in/links.csv --languages de en"
SEARCH = "--encoder in/siamese.pt --index out/index --rerank in/model.pt"

LINES = f"""
data fetch file://{{here}}/in/archive.tar.gz -o out/archive.tar.gz --unpack out/unpacked
data fetch file://{{here}}/in/archive.zip -o out/archive.zip --unpack out/unpacked
data campaign --source in/talks.xml --target in/talks.xml -o out/a.de out/a.en
data campaign --source in/tags.en --target in/tags.en -o out/a.de out/a.en
data split in/pairs.tsv -o out/cut --languages en de --valid 5 --test 5 --trust-languages
data synthetic -o out/corpus --train 50 --valid 5 --test 5 --monolingual 20 --gloss
data clean in/train.de in/train.en -o out/a.de out/a.en --max-tokens 8 --max-ratio 2 --report out/report.json
data tokenize in/raw.de -o out/tokens -l de --processes 1
data tokenize in/raw.en -o out/tokens -l en --processes 2 --escape
data train-truecaser in/train.de in/train.en -o out/truecaser
data truecase in/train.en -o out/true.en -m in/truecaser --processes 1
data postprocess in/train.en -o out/plain.en -l en --processes 1
data train-subwords in/train.de in/train.en -o out/pieces.model --size 60
data encode-subwords in/train.en -o out/pieces.en -m in/pieces.model
data decode-subwords in/pieces.en -o out/train.en
data hypotheses in/log -o out/best.en --like in/two.de
data lexicon in/train.de in/train.en -o out/lexicon.tsv --min-probability 0.1 --best 2
data lexicon in/train.de in/train.en -o out/lexicon.json --alignments in/links
data known-words in/train.en --dict in/dict.txt --vectors in/en.vec -o out/known.en --min-cosine 0.1
vectors train in/train.en -o out/en --dim 8 --buckets 100 --min-count 1 --epoch 1 --threads 1 --quiet
vectors convert in/en.vec -o out/en.npy --dict in/dict.txt --center --normalize
vectors convert in/trained.bin -o out/en.vec.gz --dict in/dict.txt --whiten
vectors random --dict in/dict.txt -o out/random.vec --dim 8
vectors random --words in/words -o out/random.npy --dim 8
vectors align in/de.vec in/en.vec -o out/de.vec out/en.vec --dictionary in/muse.txt --rounds 1 --test in/muse.txt
vectors align in/en.vec in/array.npy -o out/a.vec out/b.vec --identical --frequent 20
vectors join de=in/de.vec en=in/en.vec -o out/both.vec
vectors coverage in/trained.bin --dict in/dict.txt --show 3
vectors neighbours dog the --vectors in/array.npy -k 3
translate text in/model -i in/test.de -o out/test.en --device cpu
translate text in/model --n-best 2 --beam 2 --alignment --device cpu < in/test.de
translate pack in/one.pt in/two.pt --data in/bin -s de -t en -o out/model --tokenizer none --beam 3
translate nearest in/two.pt --data in/bin --sentence "der hund sieht den baum ." -k 2 --device cpu
translate diagnose in/two.pt --data in/bin -o out/diagnosis.md --words dog -k 2 --device cpu
translate tune in/softmax.pt --data in/bin --results out/tune.jsonl --choice out/search --limit 4 --beam 2 --device cpu
translate export in/transformer -o out/export
translate export in/model -o out/steps --format onnx
translate word-recall in/train.en --reference in/train.en --training in/train.en -o out/recall.json
translate average in/one.pt in/two.pt -o out/mean.pt
embed text in/encoder in/text.txt -o out/x.npy --normalize --device cpu
embed text in/model.pt -o out/x.npy --fp16 --device cpu < in/text.txt
embed pack in/model.pt -o out/encoder --licence mit --record in/record.json
embed random in/model.pt -o out/encoder
embed export in/encoder -o out/encoder.onnx
embed prepare -o out/data {TAGGED} --vocabulary 100
embed prepare -o out/data {TATOEBA} --parallel de-en=in/moses --until read
embed prepare -o out/data {TAGGED} --own-tags de en --monolingual en=in/en.conllu --vocabulary 100
embed statistics in/data
embed statistics in/corpus.sqlite
embed build-eval in/corpus.sqlite -o out/eval --one-in 1 --groups 3
embed build-eval in/de.conllu -o out/eval -l de --one-in 2
embed train-tagger in/de.conllu -l de --epochs 1 -o out/tagger
embed test-tagger in/de.conllu -l de -t in/de.conllu -o out/accuracy.json
embed tag in/text.txt -o out/tagged.tsv -l de -t in/de.conllu --cache out/tags.sqlite
embed pieces in/text.txt in/de.conllu -o out/pieces -l de
embed source-pieces in/data -o out/pieces.txt
embed evaluate length tags words=vectors:in/{{lang}}.vec --sets in/eval --treebanks de=in/de.conllu -o out/scores
embed search in/encoder --corpus in/text.txt --index out/index --top 2 --device cpu < in/text.txt
embed evaluate --sets in/eval --write-texts out/texts
embed tables in/record.json -o out/table.md
embed map words=vectors:in/{{lang}}.vec --sets in/eval -o out/map
classify prepare -o out/data --low-resource in/es.tsv --high-resource in/en.tsv --languages es en
classify prepare -o out/data --low-resource in/table.csv,text=body,class=stars --lower
classify prepare -o out/data --low-resource in/es.tsv --high-resource in/en.tsv --vectors in/es.vec in/en.vec
classify statistics in/data
classify predict in/model.pt in/es.txt -o out/predicted --references 3 --draws 2 --device cpu
classify predict in/model.pt --split test -o out/record.json --references 3 --draws 2 --device cpu
classify label in/model.pt in/en.txt in/es.txt -o out/a.tsv out/b.tsv --references 3 --draws 2 --device cpu
classify baseline mnb-h in/data -o out/record.json
classify baseline asv in/data -o out/record.json --more-text in/es.txt
classify report in/record.json in/baseline.json -o out/report --samples 20
classify gain in/record.json in/baseline.json -o out/gain.md --samples 20 --system SSC --over MNB-H
match prepare in/train.tsv,left=q1,right=q2,label=same --folds 2 --vectors in/words.vec -o out/data
match prepare in/train.tsv,left=q1,right=q2,label=same --like in/data --also in/new.tsv,label=none -o out/data
match prepare in/train.tsv,left=q1,right=q2,label=same --supplement in/more.tsv -o out/data
match words in/train.tsv,1,2 in/new.tsv,1 -o out/words
match statistics in/train.tsv,left=q1,right=q2,label=same --vectors in/words.vec
match repair-words in/train.tsv,columns=1+2 --vectors in/words.vec -o out/repaired --changes out/changes.tsv --times 1
match transfer-labels --labelled in/train.tsv,left=q1,right=q2,label=same --sentences in/new.tsv -o out/a.tsv
match audit in/train.tsv,left=q1,right=q2,label=same --show 2 --stop-words in/stop
match predict in/model.pt --input in/new.tsv -o out/probabilities --calibration in/calibration.json --device cpu
match predict in/model.pt --split train -o out/record.json --device cpu
match predict in/siamese.pt --device cpu < in/new.tsv
match similarity in/model.pt --input in/sts.tsv,left=1,right=2,score=3 -o out/table.md --device cpu
match calibrate in/model.json -o out/calibration.json --bias --prior 0.4
match search in/corpus.txt {SEARCH} --top 2 --device cpu < in/questions
match baseline tfidf in/data -o out/record.json --fold 1
match baseline vectors in/data -o out/record.json --fold 0 --vectors in/words.vec
match ensemble in/model.json in/siamese.json -o out/record.json --rule logit --calibrate platt --cross-fit 2
match folds in/model.json in/other.json -o out/record.json
match best in/model.json in/other.json
match report in/model.json in/siamese.json -o out/report --samples 20
corpus init --project out/new --languages en fr --base in/site
corpus crawl --project in/new
corpus extract --project in/half --again
corpus translate --project in/half --again
corpus align --project in/half --again
corpus topics --project in/half {CORPUS}
corpus negatives --project in/done --sentences out/sentences
corpus negatives --project in/done {CORPUS} --again
corpus export --project in/done {CORPUS} --again
corpus run --project in/half {CORPUS}
corpus paragraphs in/manual/en in/manual/fr -o out/pairs.tsv --sentences en fr
corpus paraphrases in/pivot.tsv --encoder vectors:in/en.vec -o out/pairs --low -1 --overlap 1 --length 0 --folds 2
corpus align-pages in/manual/en in/manual/fr --pages 2 --drop 0.1
corpus align-texts in/a.en in/b.fr --parallel in/a.en in/b.fr --output out/pairs.tsv
corpus align-quality --first in/a.en --second in/b.fr --gold in/gold
experiment run in/experiment.yaml -o out/table --launcher local --jobs 1 --gpus none
experiment run in/experiment.yaml -o out/table --dry-run
experiment status in/out
experiment report in/out --samples 20
experiment curves in/out/runs/ce.seed1/train.log in/out/runs/vmf.seed1/train.log -o out/curves.png --title "A title"
experiment record in/out/runs/ce.seed1 --about loss=ce source=de -o out/record.json
doctor --json
doctor
completion bash
options vmf
user-dir
"""


@cache
def lines() -> list[list[str]]:
    """The words of every line, which stay as they are."""
    return [shlex.split(line) for line in LINES.split("\n") if line]


def group_and_name(words: list[str]) -> tuple[str, str]:
    """The group of a line's command (or the command itself where it has none), and its whole name."""
    name, _, _ = find(words)
    return words[0], name.removeprefix("fairseq-xl ")
