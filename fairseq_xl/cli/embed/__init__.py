"""Commands of sentence embeddings."""

from fairseq_xl.cli.parsing import Table

COMMANDS: Table = {
    "text": ("fairseq_xl.cli.embed.text:Text", "turn lines of raw text into vectors"),
    "pack": ("fairseq_xl.cli.embed.models:Pack", "put a checkpoint and all that encoding text needs into one folder"),
    "random": ("fairseq_xl.cli.embed.models:Random", "the same model untrained: what its architecture alone can do"),
    "export": ("fairseq_xl.cli.embed.models:Export", "write an ONNX model, and check that it gives the same vectors"),
    "prepare": ("fairseq_xl.cli.embed.data:Prepare", "from parallel text to tagged, preprocessed training data"),
    "statistics": ("fairseq_xl.cli.embed.data:Statistics", "count the pairs of languages of a corpus"),
    "build-eval": ("fairseq_xl.cli.embed.data:BuildEval", "hold out groups of sentences with the same tags"),
    "train-tagger": ("fairseq_xl.cli.embed.taggers:TrainTagger", "train a part-of-speech tagger from treebanks"),
    "test-tagger": ("fairseq_xl.cli.embed.taggers:TestTagger", "compare a tagger's tags of raw text with gold ones"),
    "tag": ("fairseq_xl.cli.embed.taggers:Tag", "tag text, one sentence a line"),
    "pieces": ("fairseq_xl.cli.embed.taggers:Pieces", "cut text as a trained tagger does, to train word vectors on"),
    "source-pieces": ("fairseq_xl.cli.embed.data:SourcePieces", "training data's sentences, to train piece vectors on"),
    "search": ("fairseq_xl.cli.embed.search:Search", "the sentences of a corpus with the syntax of this one"),
    "evaluate": ("fairseq_xl.cli.embed.evaluation:Evaluate", "score sentence embeddings by the syntax in them"),
    "tables": ("fairseq_xl.cli.embed.evaluation:Tables", "one table from the records of several evaluations"),
    "map": ("fairseq_xl.cli.embed.evaluation:Map", "draw embeddings in two dimensions, coloured by tag sequence"),
}
