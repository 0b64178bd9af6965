"""How good is P(success)? Scores of the failure models on crash regions, simulators and along runs."""
