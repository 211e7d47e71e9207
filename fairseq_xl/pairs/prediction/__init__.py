"""Trained pair classifiers at work: probabilities, calibration, ensembles."""
