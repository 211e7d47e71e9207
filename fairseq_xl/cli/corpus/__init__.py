"""Commands that build a corpus of sentence pairs from a bilingual website."""

from fairseq_xl.cli.parsing import Table

COMMANDS: Table = {
    "init": ("fairseq_xl.cli.corpus.init", "make a project folder with settings to edit"),
    "crawl": ("fairseq_xl.cli.corpus.crawl", "fetch the pages of a website, or read a folder of them"),
    "extract": ("fairseq_xl.cli.corpus.extract", "lines of text from the pages and their counterparts"),
    "translate": ("fairseq_xl.cli.corpus.translate", "the second language's lines into the first"),
    "align": ("fairseq_xl.cli.corpus.align", "which lines mean the same"),
    "topics": ("fairseq_xl.cli.corpus.topics", "what each page is about"),
    "negatives": ("fairseq_xl.cli.corpus.negatives", "pairs that share a topic and not a meaning"),
    "export": ("fairseq_xl.cli.corpus.export", "parts, folds, files and a data card"),
    "run": ("fairseq_xl.cli.corpus.run", "all steps that are not done"),
    "align-quality": (
        "fairseq_xl.cli.corpus.align_quality",
        "precision and recall of the aligners on gold alignments",
    ),
}
