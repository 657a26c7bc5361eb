"""Tables larger than memory: each step writes files, whole or not at all, and can be resumed."""
