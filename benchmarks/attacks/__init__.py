"""The attacker's campaign: signals, outages, clock jumps, hostile objectives, fuzzed input; all is counted."""
