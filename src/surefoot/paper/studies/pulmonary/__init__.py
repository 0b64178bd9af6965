"""The paper's inference [NH18, section 7.3], other optimizers on its data, and the coverage of its intervals."""
