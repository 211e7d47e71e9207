"""Continuous outputs in eole, the successor of OpenNMT-py: the losses, the frozen table and decoding, without fairseq.

Everything extends eole's classes. The model gets a generator that predicts vectors, and the loss is one of
``fairseq_xl.losses``. Checkpoints get the table and a file ``continuous.json``. Data, encoders, decoders, optimisers
and beam search are eole's own.
"""
