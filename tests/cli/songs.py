"""A table of songs as people have them, and how to train on it."""

import numpy as np
import pandas as pd

N = 60
FEW = ("--ensemble", "ebr", "-m", 3)


def songs() -> pd.DataFrame:
    """Songs with what people have: a number with gaps, prices, a category, a date, an identifier and a title."""
    random = np.random.default_rng(0)
    loud = random.integers(0, 2, N)
    return pd.DataFrame(
        {
            "id": np.arange(1, N + 1),
            "uuid": [f"{i:06x}-f00" for i in range(N)],
            "tempo": [None if i % 9 == 0 else f"{100 + i}" for i in range(N)],
            "price": [f"$1,{i:03}.50" for i in range(N)],
            "genre": [("rock", "jazz", None)[i % 3] for i in range(N)],
            "released": pd.date_range("2020-01-01", periods=N).strftime("%d.%m.%Y"),
            "title": [f"a song of {'thunder' if one else 'rain'} and {i} stars" for i, one in enumerate(loud)],
            "tags": [";".join(["loud"] * one + ["jazz, cool"] * (i % 3 == 1)) for i, one in enumerate(loud)],
        }
    )


SONGS = ("--labels-in", "tags", "--separator", ";", "--text", "title", "--numbers", "1,234.5", "--ignore", "id")


def csv_of(frame: pd.DataFrame, **how) -> str:
    return frame.to_csv(index=False, **how)
