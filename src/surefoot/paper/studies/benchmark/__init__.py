"""The paper's benchmark [NH18, section 4]: runs, checkpoints, tables and figures."""
