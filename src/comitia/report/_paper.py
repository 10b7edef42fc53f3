"""The paper's tables read from CSV into rows that stand beside one's own.

Table 2 has the columns ensemble, metric, aggregation, dataset and value_percent, with "= GMV" for the value of an
aggregation that is equivalent to another (dataset "*": on all of them).  Figure 2 has ensemble_size instead of the
ensemble, which is EMODT throughout.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from comitia._errors import ComitiaError
from comitia.report._vocabulary import measure

PAPER = ("gmv", "bmv", "ctp", "ptc-lw", "ptc-mode")
"""The aggregations that the paper compares."""


def read_paper(path: str | Path) -> pd.DataFrame:
    """Read published results into rows: dataset, ensemble, loss, aggregation, value and, where known, size.

    Parameters
    ----------
    path : str or Path
        CSV file in the layout of Table 2 or Figure 2.

    Returns
    -------
    DataFrame
        Losses from 0 to 1 under lower-case names, as in result rows; equivalences are written out.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from comitia.report import read_paper
    >>> path = Path(tempfile.mkdtemp(), "table2.csv")
    >>> lines = ["ensemble,metric,aggregation,dataset,value_percent", "ECC,f1,GMV,yeast,60.0", "ECC,f1,CTP,yeast,65.0"]
    >>> _ = path.write_text(chr(10).join(lines))
    >>> read_paper(path)
      dataset ensemble loss aggregation  value
    0   yeast      ecc   f1         gmv   0.40
    1   yeast      ecc   f1         ctp   0.35
    """
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    missing = {"metric", "aggregation", "dataset", "value_percent"} - set(table.columns)
    if missing:
        raise ComitiaError(f"{path} must have the columns {', '.join(sorted(missing))}; it has not.")
    table = table.rename(columns={"metric": "loss", "ensemble_size": "size"})
    if "ensemble" not in table:
        table["ensemble"] = "emodt"
    for column in ("ensemble", "aggregation"):
        table[column] = table[column].str.lower()
    known = _written_out(table)
    known = known[known["value_percent"] != ""]
    percent = known["value_percent"].astype(float)
    turned = known["loss"].map(lambda loss: measure(loss).higher_is_better).astype(bool)
    columns = ["dataset", "ensemble", "loss", "aggregation"]
    if "size" in known:
        known = known.assign(size=known["size"].astype(int))
        columns.append("size")
    value = (percent / 100).where(~turned, 1 - percent / 100)
    return known[columns].assign(value=value).reset_index(drop=True)


def _written_out(table: pd.DataFrame) -> pd.DataFrame:
    parts = [table[~table["value_percent"].str.startswith("=")]]
    for row in table[table["value_percent"].str.startswith("=")].itertuples():
        twin = str(row.value_percent).removeprefix("=").strip().lower()
        same = (table["ensemble"] == row.ensemble) & (table["loss"] == row.loss) & (table["aggregation"] == twin)
        parts.append(table[same].assign(aggregation=row.aggregation))
    return pd.concat(parts)
