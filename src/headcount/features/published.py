"""`PublishedTfidf`: the tf-idf weights of the paper's published scripts, which differ from those of its text."""

from typing import Any

from sklearn.feature_extraction.text import TfidfVectorizer

__all__ = ["PublishedTfidf"]


class PublishedTfidf(TfidfVectorizer):
    """Tf-idf weights as in the published scripts of the paper: scikit-learn's, with logarithmic counts.

    A term f weighs (1 + log #(f, x)) (1 + log((1 + n) / (1 + df))), where `LogTfidf`, as the text has it, weighs it
    log(1 + #(f, x)) log(n / df): rare terms count less here. Then each text is scaled to length 1.

    Parameters
    ----------
    min_df : int, default=3
        Terms in fewer training texts are dropped.
    stop_words : "english", list of str or None, default=None
        The scripts drop none; their files were pre-processed already.

    Examples
    --------
    >>> PublishedTfidf(min_df=1).fit_transform(["good film", "bad film"]).toarray().round(2).tolist()
    [[0.0, 0.58, 0.81], [0.81, 0.58, 0.0]]
    """

    def __init__(self, *, min_df: int = 3, stop_words: Any = None) -> None:
        super().__init__(min_df=min_df, stop_words=stop_words, sublinear_tf=True)
