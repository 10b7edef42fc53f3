"""The same beliefs, a different answer for every loss."""

from comitia import AGGREGATIONS, LOSSES, Marginals, decide

# Three members' probabilities that a song is calm, happy, quiet, sad.
members = [
    Marginals([[0.55, 0.20, 0.40, 0.35]]),
    Marginals([[0.60, 0.10, 0.70, 0.45]]),
    Marginals([[0.45, 0.30, 0.35, 0.60]]),
]
labels = ["calm", "happy", "quiet", "sad"]

print("loss      " + "".join(f"{name:<24}" for name in ("gmv", "ctp", "ptc-mode", "ptc-mbr")))
for loss in ("hamming", "subset01", "f1", "jaccard"):
    answers = (decide(members, loss, aggregation)[0] for aggregation in ("gmv", "ctp", "ptc-mode", "ptc-mbr"))
    named = (", ".join(name for name, set_ in zip(labels, answer, strict=True) if set_) or "none" for answer in answers)
    print(f"{loss:<10}" + "".join(f"{names:<24}" for names in named))
print(f"\nlosses: {', '.join(LOSSES)}\naggregations: {', '.join(AGGREGATIONS)}")
