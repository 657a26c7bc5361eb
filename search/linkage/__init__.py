"""Links the rows of tables: each column is evidence, and the answer is a probability."""
