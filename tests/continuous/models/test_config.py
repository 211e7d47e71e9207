"""The sizes of the LSTM's presets."""

from fairseq_xl.continuous.models.config import ContinuousLSTMConfig, Iwslt16Config


def test_the_papers_sizes():
    cfg = Iwslt16Config()
    assert (cfg.encoder_layers, cfg.decoder_layers) == (1, 2)
    assert (cfg.encoder_hidden_dim, cfg.decoder_hidden_dim, cfg.encoder_embed_dim) == (1024, 1024, 512)
    assert cfg.dropout == 0
    assert ContinuousLSTMConfig().dropout == 0
