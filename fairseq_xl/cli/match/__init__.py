"""Commands of pair classification."""

from fairseq_xl.cli.parsing import Table

COMMANDS: Table = {
    "prepare": ("fairseq_xl.cli.match.prepare", "pairs of sentences into a folder to train on"),
    "words": ("fairseq_xl.cli.match.words", "text as the matchers read it, to train word vectors on"),
    "statistics": (
        "fairseq_xl.cli.match.statistics",
        "terms per sentence, and terms, sentences and pairs without a vector",
    ),
    "normalise": ("fairseq_xl.cli.match.normalise", "repair words without a vector: accents, spelling, near words"),
    "mint": (
        "fairseq_xl.cli.match.transfer_labels",
        "labelled pairs of one language from another's, through translations",
    ),
    "audit": ("fairseq_xl.cli.match.audit", "how sure minting is, judged on labelled pairs"),
    "predict": ("fairseq_xl.cli.match.predict", "probabilities of new pairs, or of a prepared part"),
    "similarity": ("fairseq_xl.cli.match.similarity", "do probabilities rank pairs as people do (STS-B)?"),
    "calibrate": ("fairseq_xl.cli.match.calibrate", "temperature and prior for a trained model"),
    "search": ("fairseq_xl.cli.match.search", "the sentences of a corpus nearest to a question"),
    "baseline": ("fairseq_xl.cli.match.baseline", "train and record a matcher without a network"),
    "ensemble": ("fairseq_xl.cli.match.ensemble", "average or stack the records of several matchers"),
    "folds": ("fairseq_xl.cli.match.folds", "accuracy of cross-validation, and votes of its models"),
    "report": ("fairseq_xl.cli.match.report", "tables, intervals and figures from records"),
}
