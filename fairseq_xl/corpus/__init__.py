"""Bilingual websites to a corpus of sentence pairs that mean the same, and pairs that do not."""

STEPS = {
    "crawl": "fairseq_xl.corpus.crawling.crawl",
    "extract": "fairseq_xl.corpus.documents.extract",
    "translate": "fairseq_xl.corpus.alignment.translate",
    "align": "fairseq_xl.corpus.alignment.align",
    "topics": "fairseq_xl.corpus.documents.topics",
    "negatives": "fairseq_xl.corpus.pairs.negatives",
    "export": "fairseq_xl.corpus.pairs.export",
}
"""Step -> the module whose STEP it is, in the order in which they run."""
