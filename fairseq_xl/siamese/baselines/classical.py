"""Baselines without a network of ours: averaged vectors, counts, n-grams, fastText and sentence-transformers.

asv       averaged skip-gram vectors, L2 logistic regression                    (section 4.2)
dsc-t     the same vectors, random forest                                       (Mukku et al. 2016)
mnb-h     multinomial naive Bayes on word counts                                (Sarkar & Chakraborty 2015)
svm       TF-IDF of character n-grams (1 to 5), linear support vector machine
fasttext  fastText's own classifier, with character n-grams
st        a sentence-transformers model that the user names, logistic regression
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fairseq_xl.encode.averaged import means
from fairseq_xl.encode.pretrained import load_sentence_transformer
from fairseq_xl.io.errors import InputError
from fairseq_xl.io.packages import require
from fairseq_xl.siamese.baselines import Classifier, Training
from fairseq_xl.vectors.formats.fasttext import import_fasttext

LABEL = "\x02"
"""Marks fastText's labels: normalised text has no control characters, but may have its usual ``__label__``."""


def _skip_gram(data: Training) -> Callable[[Sequence[str]], np.ndarray]:
    """Sentences to the mean of their words' skip-gram vectors (N, d); zeros where no word is known."""
    models = require("gensim.models", "siamese")
    sentences = [text.split() for text in (*data.texts, *data.more_text)]
    if max(Counter(word for sentence in sentences for word in sentence).values(), default=0) < 2:
        raise InputError("word vectors need a word that stands twice in the text: give more of it, or --more-text")
    # One worker: with several, gensim's result depends on their timing.
    model = models.Word2Vec(sentences, vector_size=100, sg=1, min_count=2, epochs=20, workers=1, seed=data.seed)
    words = model.wv
    return lambda texts: means((text.split() for text in texts), words.vectors, words.key_to_index).astype(float)


def fit_asv(data: Training) -> Classifier:
    """The paper's ε of 0.001 is read as the solver's tolerance; C is chosen on the development texts."""
    regression = require("sklearn.linear_model", "siamese").LogisticRegression
    mean = _skip_gram(data)
    train, valid = mean(data.texts), mean(data.valid_texts)
    models = [regression(C=c, tol=0.001, max_iter=1000) for c in (1.0, 10.0, 100.0)]
    best = _best([model.fit(train, data.labels) for model in models], valid, data)
    return lambda texts: best.predict(mean(texts))


def fit_dsc_t(data: Training) -> Classifier:
    forest = require("sklearn.ensemble", "siamese").RandomForestClassifier
    mean = _skip_gram(data)
    model = forest(n_estimators=300, random_state=data.seed).fit(mean(data.texts), data.labels)
    return lambda texts: model.predict(mean(texts))


def fit_mnb_h(data: Training) -> Classifier:
    bayes = require("sklearn.naive_bayes", "siamese").MultinomialNB
    count = require("sklearn.feature_extraction.text", "siamese").CountVectorizer
    counts = count(tokenizer=str.split, token_pattern=None, lowercase=False)
    model = bayes().fit(counts.fit_transform(data.texts), data.labels)
    return lambda texts: model.predict(counts.transform(texts))


def fit_svm(data: Training) -> Classifier:
    """C is chosen on the development texts."""
    machine = require("sklearn.svm", "siamese").LinearSVC
    weights = require("sklearn.feature_extraction.text", "siamese").TfidfVectorizer(
        analyzer="char_wb", ngram_range=(1, 5), min_df=2, sublinear_tf=True, lowercase=False
    )
    train, valid = weights.fit_transform(data.texts), weights.transform(data.valid_texts)
    models = [machine(C=c, random_state=data.seed).fit(train, data.labels) for c in (0.03, 0.1, 0.3, 1.0)]
    best = _best(models, valid, data)
    return lambda texts: best.predict(weights.transform(texts))


def _best(models: Sequence[Any], valid: Any, data: Training) -> Any:
    from sklearn.metrics import f1_score

    return max(models, key=lambda m: f1_score(data.valid_labels, m.predict(valid), average="macro"))


def fit_fasttext(data: Training) -> Classifier:
    fasttext = import_fasttext("this baseline")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train"
        with path.open("w", encoding="utf-8") as stream:
            # It reads the file in order and forgets: one that is sorted by class makes everything the last class.
            for i in np.random.default_rng(data.seed).permutation(len(data.texts)):
                stream.write(f"{LABEL}{data.labels[i]} {data.texts[i]}\n")
        # One thread: with several, the result depends on their timing.
        model = fasttext.train_supervised(
            str(path),
            label=LABEL,
            dim=100,
            epoch=25,
            lr=0.5,
            minn=2,
            maxn=5,
            wordNgrams=2,
            bucket=200_000,
            thread=1,
            verbose=0,
            seed=data.seed,
        )
    return lambda texts: np.array([int(label[0].removeprefix(LABEL)) for label in model.predict(list(texts))[0]])


def fit_st(data: Training) -> Classifier:
    if data.model is None:
        raise InputError("baseline st needs a sentence-transformers model: name it with --model")
    regression = require("sklearn.linear_model", "siamese").LogisticRegression
    encoder = load_sentence_transformer(data.model)
    train, valid = encoder.encode(list(data.texts)), encoder.encode(list(data.valid_texts))
    models = [regression(C=c, max_iter=2000).fit(train, data.labels) for c in (0.1, 1.0, 10.0)]
    best = _best(models, valid, data)
    return lambda texts: best.predict(encoder.encode(list(texts)))
