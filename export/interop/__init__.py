"""Embedders in other libraries: scikit-learn, MTEB, the Hugging Face Hub."""
