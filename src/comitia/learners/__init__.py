"""Fast fitting of many models at once; nothing here knows of ensembles."""
