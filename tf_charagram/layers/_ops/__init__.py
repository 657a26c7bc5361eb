"""Operations on ragged batches and rows of tables."""
