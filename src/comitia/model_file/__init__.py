"""Fitted ensembles as files, which are opened without running any code that they might hold."""

from comitia.model_file._archive import ModelFileError
from comitia.model_file._model import Model, load, save

__all__ = ["Model", "ModelFileError", "load", "save"]
