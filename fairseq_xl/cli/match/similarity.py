"""``fairseq-xl match similarity``: do a pair classifier's probabilities rank pairs as people do?"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

from fairseq_xl.cli.match.common import MOVED, WORDS_LACKING
from fairseq_xl.io.atomic import text_output
from fairseq_xl.io.settings import argument, device_option, option, user_dir_option


@dataclass(kw_only=True)
class Similarity:
    """Print Spearman's correlation, times 100, of graded similarities (STS-B) with a pair classifier's probabilities.
    The table also has its correlation with the cosines of the classifier's sentence vectors, where it has any. Two
    baselines need no training: cosines of averaged word vectors, and the share of words in common. 95 % of bootstrap
    samples lie within the intervals. For several models, such as the folds', the table has the mean and the standard
    deviation.
    """

    models: list[Path] = argument("checkpoints of one data directory", metavar="MODEL")
    input: list[str] = option(
        "pairs with a score, such as sts.csv,left=1,right=2,score=3,languages=en+en", metavar="SOURCE"
    )
    across: bool = option(
        "also each input's left sentences with the right ones of each other input; for translations of one file, line "
        "by line",
        False,
    )
    name: str | None = option("of the classifier", None, shown="its architecture")
    vectors: Path | None = option(f"{WORDS_LACKING}; leave them out and such words are skipped", None, metavar="FILE")
    data: Path | None = option(MOVED, None, metavar="DIR")
    output: Path | None = option("Markdown file to write", None, alias="-o", shown="standard output", metavar="FILE")
    device: str | None = device_option()
    user_dir: Path | None = user_dir_option()

    def run(self) -> None:
        """Compute and write.

        Raises:
            InputError: an unusable checkpoint or source, or inputs that are no translations of each other.
        """
        import fairseq_xl

        fairseq_xl.register()
        from fairseq_xl.pairs.evaluation import similarity
        from fairseq_xl.pairs.prediction.predictor import PairPredictor
        from fairseq_xl.training.checkpoints import read as read_checkpoint

        sources = [similarity.read(source) for source in self.input]
        if self.across:
            sources += [similarity.across(one, other) for one, other in permutations(sources, 2)]
        said, known = [], []
        for path in self.models:
            predictor = PairPredictor.load(path, self.data, self.device)
            name = self.name or read_checkpoint(path)["cfg"]["model"]["_name"]
            every = [predictor.rows(source.pairs, source.languages) for source in sources]
            if self.vectors:
                predictor.learn_words([row for rows in every for row in rows], self.vectors)
            known = [similarity.known_share(predictor, rows) for rows in every]
            said.append([similarity.similarities(predictor, rows, name) for rows in every])
        table = similarity.table(sources, said, known)
        with text_output(self.output) as stream:
            stream.write(table.markdown())
