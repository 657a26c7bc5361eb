"""Fellegi and Sunter's model of agreements of columns."""
