"""Data sets that can be downloaded, with checksum and licence."""
