"""Smaller models for an export."""
