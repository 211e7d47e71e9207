"""Models for other programs.

``ctranslate2_export`` writes a Transformer for CTranslate2, and ``check`` compares it with fairseq's. Its export has a
``folder``, what ``folding`` puts into the output layer, and a ``spec``. ``swap`` gives it other words, and
``translator`` translates with it. ``onnx_export`` writes an LSTM as two ONNX models, and compares them itself.
"""
