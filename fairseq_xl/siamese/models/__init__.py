"""The Siamese encoder, its contrastive loss, and what registers them with fairseq."""
