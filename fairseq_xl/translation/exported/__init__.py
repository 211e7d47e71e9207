"""Models for CTranslate2: what folds into its Transformer, folders of it, translating with them."""
