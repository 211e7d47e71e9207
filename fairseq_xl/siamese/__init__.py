"""The Siamese encoder: labels of a high-resource language help to classify text of a low-resource one."""
