"""Commands of pair classification."""

from fairseq_xl.cli.parsing import Table

COMMANDS: Table = {
    "prepare": ("fairseq_xl.cli.match.prepare:Prepare", "pairs of sentences into a data directory to train on"),
    "words": ("fairseq_xl.cli.match.words:Words", "text as pair classifiers read it, to train word vectors on"),
    "statistics": (
        "fairseq_xl.cli.match.words:Statistics",
        "terms per sentence, and terms, sentences and pairs without a vector",
    ),
    "repair-words": (
        "fairseq_xl.cli.match.repair_words:RepairWords",
        "repair words without a vector: accents, spelling, near words",
    ),
    "transfer-labels": (
        "fairseq_xl.cli.match.transfer_labels:TransferLabels",
        "labelled pairs of one language from another's, through translations",
    ),
    "audit": (
        "fairseq_xl.cli.match.transfer_labels:Audit",
        "how sure the keys of label transfer are, judged on labelled pairs",
    ),
    "predict": ("fairseq_xl.cli.match.predict:Predict", "probabilities of new pairs, or of a split"),
    "similarity": ("fairseq_xl.cli.match.similarity:Similarity", "do probabilities rank pairs as people do (STS-B)?"),
    "calibrate": ("fairseq_xl.cli.match.calibrate:Calibrate", "temperature and prior for a trained model"),
    "search": ("fairseq_xl.cli.match.search:Search", "the sentences of a corpus nearest to a question"),
    "baseline": ("fairseq_xl.cli.match.baseline:Baseline", "train and record a baseline without a network"),
    "ensemble": ("fairseq_xl.cli.match.ensemble:Ensemble", "average or stack the records of several pair classifiers"),
    "folds": ("fairseq_xl.cli.match.report:Folds", "accuracy of cross-validation, and votes of its models"),
    "best": ("fairseq_xl.cli.match.report:Best", "which record has the highest accuracy"),
    "report": ("fairseq_xl.cli.match.report:Report", "tables, intervals and figures from records"),
}
