"""Values to search for each task and encoder, combined by `spaces`.

Sources: C is Charagram (2016), appendix B and sections 4.2 and 4.3; U is Towards Universal
Paraphrastic Sentence Embeddings (2016), sections 4.2.1 and 4.4; S is CSE (2018), section 4.
"""

from __future__ import annotations

from typing import Any

#: Field -> values. Fields that vary together are a field `"first+second"` with pairs as values.
Space = dict[str, tuple[Any, ...]]

C_WORDS: Space = {"batch_size": (25, 50), "negatives": ("max", "mix")}
C_L2: Space = {"l2": (1e-4, 1e-5, 1e-6)}
C_ENCODERS: dict[str, Space] = {
    "charagram": {"activation": ("tanh", "linear")},
    "char_cnn": {
        "activation": ("relu", "tanh"),
        "dense": ("tanh", "linear"),
        "filters": ("small", "kim"),
    },
    "char_lstm": {"use_output_gate": (True, False)},
}
C_POS: dict[str, Space] = {
    **C_ENCODERS,
    "charagram": {
        "min_count": (1, 2),
        "activation": ("tanh", "linear", "relu"),
        "num_layers": (1, 2),
    },
}

U_PAIRS: Space = {
    "l2_composition": (1e-3, 1e-4, 1e-5, 1e-6),
    "batch_size": (25, 50, 100),
    "l2_words": (1e-5, 1e-6, 1e-7, 1e-8),
    "margin": (0.4, 0.6, 0.8),
    "optimizer": ("adagrad", "adam"),
    "learning_rate": (0.05, 0.005, 0.0005),
    "clip_norm": (1.0, None),
    "negatives": ("mix", "max"),
}
U_ENCODERS: dict[str, Space] = {
    "word_average": {},
    "projection": {},
    "dan": {"activation": ("tanh", "relu"), "num_layers": (1, 2)},
    "rnn": {"activation": ("tanh", "relu")},
    "identity_rnn": {"l2_composition": (1000.0, 100.0, 10.0, 1.0)},
    "lstm": {"use_output_gate": (True, False)},
}

_U_SIZES: Space = {"batch_size": (25, 50, 100), "hidden_dim": (50, 150, 300)}
_U_L2_WORDS: Space = {"l2_words": (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)}
_U_L2_HEAD: Space = {"l2_head": (1e-3, 1e-4, 1e-5, 1e-6)}
_U_OPTIMIZERS: Space = {"optimizer+learning_rate": (("adagrad", 0.05), ("adam", 0.001))}
#: Labels, from word vectors: footnote 16 of U.
U_LABELS: Space = {
    **_U_SIZES,
    "l2_composition+l2_head": ((1e-3, 1e-3), (1e-4, 1e-4), (1e-5, 1e-5), (1e-6, 1e-6)),
    **_U_L2_WORDS,
    **_U_OPTIMIZERS,
}
#: Further fields of encoders: the fields for pairs, except U's lambda_c of `identity_rnn`.
LABEL_ENCODERS: dict[str, Space] = {
    **C_ENCODERS,
    **U_ENCODERS,
    "identity_rnn": {},
    "cse": {},
    "gran": {},
}
#: Labels, from a model of paraphrases with a penalty on the distance from it: footnote 17.
U_UNIVERSAL: Space = {
    **_U_SIZES,
    **_U_L2_HEAD,
    "l2_composition": (1e-2, 1e-3, 1e-4, 1e-5, 1e-6),
    **_U_L2_WORDS,
    **_U_OPTIMIZERS,
    "pull_back": (True,),
}
#: Labels, from the vectors of such a model: section 4.4.2.
U_FEATURES: Space = {**_U_L2_HEAD, **_U_OPTIMIZERS}

S_PAIRS: Space = {
    "margin": (0.4, 0.6, 0.8),
    "l2_words": (1e-4, 1e-5, 1e-6),
    "l2_composition": (1e-5, 1e-6, 1e-7, 0.0),
    "batch_size": (32, 64, 128, 256),
}
#: Without a margin. CSE's lambda acts on the head: the other two penalties pull the encoder back.
S_SIMILARITY: Space = {
    "l2_words": S_PAIRS["l2_words"],
    "l2_composition": S_PAIRS["l2_composition"],
    "batch_size": S_PAIRS["batch_size"],
    "l2_head": (1e-5, 1e-6, 1e-7, 0.0),
}

#: The wide space. A search uses only the settings of its task and the options of its encoder.
WIDE: Space = {
    "ngrams": ((2, 3, 4), (3, 4), (2, 3, 4, 5), (3, 4, 5, 6), (2, 3, 4, 5, 6)),
    "hash_buckets": (None, 2**16, 2**18, 2**20),
    "dim": (100, 200, 300),
    "hidden_dim": (50, 150, 300),
    "batch_size": (25, 50, 100, 200),
    "negatives": ("max", "mix", "random"),
    "margin": (0.2, 0.4, 0.6, 0.8),
    "optimizer": ("adam", "adagrad"),
    "learning_rate": (0.05, 0.005, 0.001, 0.0005),
    "decay": ("none", "linear"),
    "l2": (0.0, 1e-6, 1e-5, 1e-4),
    "l2_words": (0.0, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4),
    "l2_composition": (1e-6, 1e-5, 1e-4, 1e-3),
    "l2_head": (0.0, 1e-6, 1e-5, 1e-4, 1e-3),
    "pull_back": (True, False),
    "dropout": (0.0, 0.1, 0.3),
    "similarity_weight": (0.0, 0.3, 1.0),
    "temperature": (0.03, 0.07, 0.15),
    "pairs_weight": (0.5, 1.0, 2.0),
}
#: Other values for some tasks.
WIDE_OF_TASK: dict[str, Space] = {
    "distill": {
        "dim": (128, 256, 384),
        "batch_size": (250, 500, 1000),
        "typos": (0.3, 0.5, 0.7),
    },
    "pos": {"optimizer": ("sgd",), "learning_rate": (0.05, 0.1, 0.2, 0.4)},
}
