"""Models for other programs.

``ctranslate2_export`` writes a Transformer for CTranslate2, and ``onnx_export`` an LSTM as two ONNX models. ``check``
compares them with fairseq's. An export for CTranslate2 has a ``folder``, what ``folding`` puts into its output layer,
and its ``spec``. ``swap`` gives it other words, and ``translator`` translates with it.
"""
