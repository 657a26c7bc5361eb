"""From strings to ids, once for NumPy and the graph, and the texts that come in."""
