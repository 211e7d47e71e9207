"""Models for other programs: CTranslate2 for a Transformer, ONNX for an LSTM; each is written by its ``*_export``.

For CTranslate2 there are also what folds into its output layer, the export's folder, other words for it, and
translating with it.
"""
