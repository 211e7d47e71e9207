"""Commands that build a corpus of sentence pairs from a bilingual website, or from two texts."""

from fairseq_xl.cli.parsing import Table

COMMANDS: Table = {
    "init": ("fairseq_xl.cli.corpus.steps:Init", "make a project folder with settings to edit"),
    "crawl": ("fairseq_xl.cli.corpus.steps:Crawl", "fetch the pages of a website, or read a folder of them"),
    "extract": ("fairseq_xl.cli.corpus.steps:Extract", "lines of text from the pages and their counterparts"),
    "translate": ("fairseq_xl.cli.corpus.steps:Translate", "the second language's lines into the first"),
    "align": ("fairseq_xl.cli.corpus.steps:Align", "which lines mean the same"),
    "topics": ("fairseq_xl.cli.corpus.steps:Topics", "what each page is about"),
    "negatives": ("fairseq_xl.cli.corpus.steps:Negatives", "pairs that share a topic and not a meaning"),
    "export": ("fairseq_xl.cli.corpus.steps:Export", "splits, folds, files and a data card"),
    "run": ("fairseq_xl.cli.corpus.steps:Run", "all steps that are not done"),
    "align-texts": (
        "fairseq_xl.cli.corpus.align_texts:AlignTexts",
        "parallel text of a plain text and its translation",
    ),
    "paragraphs": (
        "fairseq_xl.cli.corpus.paragraphs:Paragraphs",
        "parallel text of pages whose paragraphs carry the same ids",
    ),
    "paraphrases": (
        "fairseq_xl.cli.corpus.paraphrases:Paraphrases",
        "labelled pairs of one language from its translations into others",
    ),
    "align-pages": (
        "fairseq_xl.cli.corpus.align_quality:AlignPages",
        "measure aligners on pages whose paragraphs have equal ids",
    ),
    "align-quality": (
        "fairseq_xl.cli.corpus.align_quality:AlignQuality",
        "precision and recall of the aligners on gold alignments",
    ),
}
