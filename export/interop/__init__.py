"""Embedders in other libraries: scikit-learn, MTEB, gensim and spaCy, the Hugging Face Hub."""
