"""The report of a pulmonary inference, for a person who knows medicine and need not know optimization."""

from surefoot.reports.pulmonary.document import write_report

__all__ = ["write_report"]
