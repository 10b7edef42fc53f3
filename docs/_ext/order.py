"""The order of the examples: from a first look to one's own classes."""

ORDER = (
    "seven_segment_digits",
    "one_belief_four_losses",
    "three_members_deciding",
    "votes_as_a_distribution",
    "size_of_the_ensemble",
    "out_of_bag_choice",
    "reading_over_seen_labelsets",
    "chains_joint_and_greedy",
    "macro_f1_without_retraining",
    "calibration",
    "abstaining_with_a_guarantee",
    "limits_on_answers",
    "own_loss",
    "text_tags",
    "lightgbm_in_a_committee",
    "own_classifier",
    "dask_on_a_laptop",
    "critical_difference",
)


class Telling:
    """Sorts files of the gallery by `ORDER`; one that is not there comes last."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, name: str) -> int:
        stem = name.removesuffix(".py")
        return ORDER.index(stem) if stem in ORDER else len(ORDER)
