"""Ensembles of multilabel classifiers whose predictions are made for the loss that matters."""
