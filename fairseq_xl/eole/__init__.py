"""Continuous outputs in eole, the successor of OpenNMT-py: the losses, the frozen table and decoding, without fairseq.

Everything extends eole's classes: its model by a generator that predicts vectors, its loss by those of
``fairseq_xl.losses``, its checkpoints by the table and a file ``continuous.json``. Data, encoders, decoders, optimisers
and beam search are eole's own.
"""
