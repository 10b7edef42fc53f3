"""What goes wrong by no fault of the library."""

from __future__ import annotations


class ComitiaError(ValueError):
    """Somebody asked for what cannot be done, or gave what cannot be used; the message says what was expected.

    Every error that the library raises on purpose is one, so that ``except comitia.ComitiaError`` catches a user's
    mistake and lets a bug be a bug.

    Examples
    --------
    >>> from comitia import ComitiaError, get_loss
    >>> try:
    ...     get_loss("f2")
    ... except ComitiaError as error:
    ...     print(error)
    unknown loss 'f2': did you mean 'f1'? There are: hamming, subset01, f1, jaccard.
    """
