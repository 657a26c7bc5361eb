"""Every table and figure of the three papers: the runs it needs, our numbers beside theirs."""
