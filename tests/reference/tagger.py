"""The tagger of Ling et al. (2015) as Charagram, section 4.2, uses it: METHODS.md, section 3."""

from collections.abc import Callable, Sequence

import numpy as np

from . import lstm


def logits(
    sentences: Sequence[Sequence[str]],
    compose: Callable[[str], np.ndarray],
    weights: dict[str, np.ndarray],
    use_capitals: bool = False,
) -> np.ndarray:
    """Scores all tags for all words, word by word, sentence by sentence.

    Args:
        sentences: Lists of words.
        compose: Word -> vector `(dim,)`.
        weights: Of the two LSTMs "forward_K", "forward_R", "forward_b", and "forward_p" if they
            have peepholes, the same with "backward_"; "H", "bh" of the tanh layer; "S", "bs" of the
            last one.
        use_capitals: Whether a word has one more input, 1 if it has a capital.

    Returns:
        `(number of words, number of tags)`.
    """

    def run(direction: str, inputs: np.ndarray) -> np.ndarray:
        names = ("K", "R", "b", "p")
        return lstm.states(inputs, *(weights.get(f"{direction}_{name}") for name in names))

    found = []
    for sentence in sentences:
        vectors = [compose(word) for word in sentence]
        if use_capitals:
            capitals = (float(word != word.lower()) for word in sentence)
            vectors = [np.append(x, c) for x, c in zip(vectors, capitals, strict=True)]
        inputs = np.array(vectors)
        if not len(inputs):
            continue
        both = np.hstack([run("forward", inputs), run("backward", inputs[::-1])[::-1]])
        found.append(np.tanh(both @ weights["H"] + weights["bh"]) @ weights["S"] + weights["bs"])
    return np.concatenate(found) if found else np.zeros((0, len(weights["bs"])))


def loss(scores: np.ndarray, labels: Sequence[int]) -> float:
    """Returns the mean of -log softmax(scores)[label], over labels that are not -1."""
    terms = [
        -(row[label] - np.log(np.sum(np.exp(row - row.max()))) - row.max())
        for row, label in zip(scores, labels, strict=True)
        if label != -1
    ]
    return float(np.mean(terms)) if terms else 0.0
